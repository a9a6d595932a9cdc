"""The process that serves S3 by moto; it ends when the run does, however that comes."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

HOST = "127.0.0.1"
_LOOKS = 1.0
_PIECE = 1 << 12


class _Handler(MotoRequestHandler):
    """Keeps connections open, as S3 does, and logs errors alone."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Write nothing: each request of a run would be a line."""


def main(parent: int) -> None:
    """Serve on a free port, and print it; return once the run is over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    application = DomainDispatcherApplication(create_backend_app)
    server = make_server(HOST, 0, application, threaded=True, request_handler=_Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    while os.getppid() == parent:
        if select.select([0], [], [], _LOOKS)[0] and not os.read(0, _PIECE):
            return


if __name__ == "__main__":
    main(int(sys.argv[1]))
    # Threads that still serve would be waited for.
    os._exit(0)
