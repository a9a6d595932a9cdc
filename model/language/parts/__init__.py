"""Parts with state and faults of their own: channels, networks, processes, clocks."""
