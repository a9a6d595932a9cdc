"""What can happen: protocols, and everything that explores them."""
