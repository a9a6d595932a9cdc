"""What is made of a finished replay."""
