"""The state machine of a protocol, under the name that tests import it by."""

from onceproof.properties.testing.state_machine import machine

__all__ = ["machine"]
