"""A time-stamping authority on loopback: `openssl ts -reply` behind an HTTP server, with a root certificate of its own."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_SETTINGS = """
[req]
distinguished_name = name
[name]
[tsa]
default_tsa = here
[here]
serial = {folder}/serial
default_policy = 1.2.3.4.1
digests = {digests}
crypto_device = builtin
signer_digest = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
[root]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
[signer]
extendedKeyUsage = critical,timeStamping
basicConstraints = CA:false
keyUsage = critical,digitalSignature
"""
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout")


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


@dataclass
class Authority:
    """An authority with its keys in a folder."""

    folder: Path
    digests: str = "sha256"
    """What it stamps; anything else it rejects."""
    days: int = 3650
    """How long the signer's certificate is valid; negative: it has expired."""
    requests: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        here = self.folder
        (here / "settings").write_text(_SETTINGS.format(folder=here, digests=self.digests))
        (here / "serial").write_text("01\n")
        openssl("req", "-x509", *_KEY, here / "root.key", "-out", here / "root.pem", "-subj", f"/CN={here.name} root", "-days", "3650",
                "-config", here / "settings", "-extensions", "root")  # fmt: skip
        openssl("req", *_KEY, here / "signer.key", "-out", here / "signer.csr", "-subj", f"/CN={here.name}", "-config", here / "settings")
        openssl("x509", "-req", "-in", here / "signer.csr", "-CA", here / "root.pem", "-CAkey", here / "root.key", "-CAcreateserial",
                "-out", here / "signer.pem", "-days", str(self.days), "-extfile", here / "settings", "-extensions", "signer")  # fmt: skip

    @property
    def root(self) -> Path:
        """Its root certificate."""
        return self.folder / "root.pem"

    def reply(self, request: bytes) -> bytes:
        """Return its answer to *request*."""
        self.requests.append(request)
        query, answer = self.folder / "query", self.folder / "answer"
        query.write_bytes(request)
        openssl("ts", "-reply", "-config", self.folder / "settings", "-queryfile", query, "-signer", self.folder / "signer.pem",
                "-inkey", self.folder / "signer.key", "-chain", self.root, "-out", answer)  # fmt: skip
        return answer.read_bytes()


Reply = Callable[[bytes], bytes | tuple[int, bytes]]


@contextmanager
def serve(reply: Reply) -> Iterator[str]:
    """Give the address of a server that answers each request with *reply*: bytes, or a status with bytes."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/timestamp-query"
            answer = reply(self.rfile.read(int(self.headers["Content-Length"])))
            status, content = answer if isinstance(answer, tuple) else (200, answer)
            self.send_response(status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(content)))
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            # The command hangs up before the end of an answer that is too long.
            with suppress(ConnectionError):
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
