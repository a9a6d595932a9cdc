"""How states, events and messages read: labels, and the words of each sort."""
