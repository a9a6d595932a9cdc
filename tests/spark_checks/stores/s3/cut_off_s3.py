"""A server of S3 that refuses everything once some files of a table are published.

So it looks to Spark's writer from within as a driver's death does from without: what it
has done by then stays, and nothing that it tries afterwards has an effect.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSED = b"<Error><Code>AccessDenied</Code><Message>cut off</Message></Error>"
_HIDDEN = ("_", ".")


class CutOff:
    """Passes requests on to a server until it is cut off."""

    def __init__(self, application: Any) -> None:
        """Pass all requests on to an ``application`` of WSGI."""
        self._application = application
        self._lock = threading.Lock()
        self._left: int | None = None
        self.happened = False

    @contextmanager
    def after(self, published: int) -> Iterator[None]:
        """Refuse to publish more files than that, and all that follows."""
        with self._lock:
            self._left, self.happened = published, False
        try:
            yield
        finally:
            with self._lock:
                self._left = None

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        """Answer a request."""
        if self._refuses(publishes(environ)):
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            length = [("Content-Length", str(len(_REFUSED)))]
            start("403 Forbidden", [("Content-Type", "application/xml"), *length])
            return [_REFUSED]
        return self._application(environ, start)

    def _refuses(self, publishing: bool) -> bool:
        with self._lock:
            if self._left is None:
                return False
            if publishing and not self.happened:
                self.happened = self._left == 0
                self._left -= 1
            return self.happened


def publishes(environ: dict[str, Any]) -> bool:
    """Return whether a request makes a file visible to those who list the table.

    An object is there once it is put or copied, or its upload is completed.
    """
    parts = environ["PATH_INFO"].strip("/").split("/")
    if not parts[-1].startswith("part-") or any(p[:1] in _HIDDEN for p in parts):
        return False
    query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    puts = environ["REQUEST_METHOD"] == "PUT" and "partNumber" not in query
    completes = environ["REQUEST_METHOD"] == "POST" and "uploadId" in query
    return puts or completes
