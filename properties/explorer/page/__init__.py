"""The explorer as one page of HTML."""
