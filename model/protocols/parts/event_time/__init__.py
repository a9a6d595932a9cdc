"""Parts of an operator over event time: windows, panes, watermarks."""
