"""Parts that several protocols share."""
