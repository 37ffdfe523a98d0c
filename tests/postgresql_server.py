"""A PostgreSQL server of our own on loopback, which can be stopped and started again."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_LONGEST = 120.0


@dataclass(frozen=True)
class Server:
    """A server, and the URL of its database."""

    programs: Path
    folder: Path
    port: int
    user: str | None

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        settings = f"-h 127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off"
        self.run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", settings, "start")

    def stop(self) -> None:
        """Stop it at once, whoever is connected."""
        self.run("pg_ctl", "-w", "-m", "immediate", "stop")

    def run(self, program: str, *options: str) -> None:
        subprocess.run(  # noqa: S603  # our own server
            [str(self.programs / program), "-D", str(self.folder / "data"), *options],
            check=True,
            user=self.user,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            timeout=_LONGEST,
        )


@contextmanager
def postgresql() -> Iterator[Server]:
    """Run a server for as long as the context lasts; skip the test if none is installed."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb")
    programs = Path(found).parent if found else installed[-1] if installed else None
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    pytest.importorskip("psycopg", reason="no PostgreSQL driver: pip install 'psycopg[binary]'")
    with tempfile.TemporaryDirectory(prefix="hetbo-postgresql-") as folder:
        # PostgreSQL refuses to run as root.
        user = "postgres" if os.geteuid() == 0 else None
        if user is not None:
            shutil.chown(folder, user)
        server = Server(programs, Path(folder), _free_port(), user)
        server.run("initdb", "-A", "trust", "-U", "postgres", "--no-sync")
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
