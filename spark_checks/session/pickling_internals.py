"""All use of what is private in PySpark's pickler: how functions are sent."""

from __future__ import annotations

import sys
from typing import Any

from pyspark import cloudpickle
from pyspark.cloudpickle import cloudpickle as pickling

_Pickler: Any = cloudpickle.CloudPickler
# PySpark 3.5 has the pickler in a module of its own, beside what it makes functions by.
_of_pickler: Any = sys.modules[_Pickler.__module__]


class FunctionPickler(_Pickler):  # type: ignore[misc]
    """Pickles as Spark does, and lets a subclass say how functions are pickled."""

    def reduce_function(self, function: Any) -> Any:
        """Say how a function is pickled that no module has under its name."""
        return super()._dynamic_function_reduce(function)

    def _dynamic_function_reduce(self, func: Any) -> Any:
        return self.reduce_function(func)

    def arguments_of(self, function: Any) -> Any:
        """Give what a function is made anew of: its code, its globals, and the rest."""
        return self._function_getnewargs(function)

    @staticmethod
    def maker() -> Any:
        """Give the function that makes one anew."""
        return _of_pickler._make_function

    @staticmethod
    def slots_of(function: Any) -> dict[str, Any]:
        """Give what a new function is given besides its arguments."""
        getstate: Any = _of_pickler._function_getstate
        _, slots = getstate(function)
        found: dict[str, Any] = slots
        return found

    @staticmethod
    def setter() -> Any:
        """Give the function that gives a new function its slots."""
        return _of_pickler._function_setstate


def modules_by_value() -> set[str]:
    """Give the names of modules that are pickled by value, to be changed in place."""
    found: set[str] = pickling._PICKLE_BY_VALUE_MODULES
    return found
