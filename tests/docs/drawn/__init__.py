"""Pictures of the documentation that are drawn from the code's own data, as SVG."""
