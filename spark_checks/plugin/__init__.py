"""What the pytest plugin is made of: options, markers, expectations, the fixture."""
