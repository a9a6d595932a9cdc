"""Whether some behaviour of a protocol explains a trace of observed events."""
