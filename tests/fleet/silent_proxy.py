"""A proxy before PostgreSQL that can fall silent: connections stay open, and nothing comes any more."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

_PORT = 5432


class SilentProxy:
    """Passes bytes between clients on loopback and a server's socket until it is silent."""

    def __init__(self, url: str, *, silent_at: bytes | None = None) -> None:
        """Listen.

        Args:
            url: of a database, with the folder of the server's socket.
            silent_at: what a client must send for the proxy to fall silent by itself; None: nothing does.
        """
        parts = urlsplit(url)
        self._server = f"{parts.query.partition('host=')[2]}/.s.PGSQL.{_PORT}"
        self._silent_at = silent_at
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        self.silent = threading.Event()
        self.url = f"postgresql://caveat@127.0.0.1:{self._listener.getsockname()[1]}{parts.path}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Cut everything."""
        for one in self._sockets:
            # A thread that reads from it wakes.
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._sockets += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self._silent_at is not None and self._silent_at in data:
                    self.silent.set()
                if self.silent.is_set():
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def run_proxy(url: str, *, silent_at: bytes | None = None) -> Iterator[SilentProxy]:
    """Run a proxy before the database at *url*."""
    proxy = SilentProxy(url, silent_at=silent_at)
    try:
        yield proxy
    finally:
        proxy.close()
