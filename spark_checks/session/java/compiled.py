"""Java of ours, compiled inside the JVM by the compiler that Spark has for its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def compiled(jvm: Any, source: Path) -> Any:
    """Return a new object of the class that a file is named after."""
    compiler = getattr(jvm, "org.codehaus.janino.SimpleCompiler")()
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    compiler.setParentClassLoader(loader)
    compiler.cook(source.read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass(source.stem).newInstance()
