"""The sinks of the micro-batch protocol: a part each."""
