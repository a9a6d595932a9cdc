"""The sources of the micro-batch protocol: a part each."""
