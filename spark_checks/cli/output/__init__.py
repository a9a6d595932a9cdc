"""What commands print, and how it reaches stdout and stderr."""
