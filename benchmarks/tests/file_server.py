"""A small HTTP server on this machine, with the faults of real ones."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class FileServer:
    """What the server does, and what it was asked for.

    Attributes:
        files: The files by path.
        ranges: Whether it sends parts of files.
        tags: Whether it tells versions of a file apart.
        lengths: Whether it says how long a file is.
        cut: It ends the connection after so many bytes of a file.
        wait: If set, it waits for this before it ends the connection.
        asked: Path and Range of each request.
        sent: How many bytes of files it sent in answer to each request.
        address: Where it is.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    tags: bool = True
    lengths: bool = True
    cut: int | None = None
    wait: threading.Event | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving() -> Iterator[FileServer]:
    """Run a server for as long as the context lasts."""
    state = FileServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, state)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        if state.wait:
            state.wait.set()
        server.shutdown()
        server.server_close()
        thread.join()


def answer(request: BaseHTTPRequestHandler, state: FileServer) -> None:
    """Answer one request."""
    asked = request.headers.get("Range")
    state.asked.append((request.path, asked))
    content = state.files.get(request.path)
    if content is None:
        request.send_error(404)
        return
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    same = request.headers.get("If-Range", tag) == tag
    start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
    if not (state.ranges and same):
        start = 0
    if start >= len(content):
        request.send_error(416)
        return
    request.send_response(206 if start else 200)
    if start:
        request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
    if state.lengths:
        request.send_header("Content-Length", str(len(content) - start))
    if state.tags:
        request.send_header("ETag", tag)
    request.end_headers()
    body = content[start:] if state.cut is None else content[start : start + state.cut]
    state.sent.append(len(body))
    request.wfile.write(body)
    request.wfile.flush()
    if state.wait:
        state.wait.wait(30)
