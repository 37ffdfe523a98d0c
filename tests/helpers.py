"""What several test files need beside strategies."""

import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import hetbo as hb

T = TypeVar("T")


@contextmanager
def refused(error: type[Exception], *parts: str) -> Iterator[None]:
    """Expect an error whose message is short and holds all of `parts`."""
    with pytest.raises(error) as caught:
        yield
    message = str(caught.value)
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in {message!r}"
    assert len(message) < 600, f"a message of {len(message)} characters"


def blas_threads() -> list[int]:
    """Return how many threads each BLAS library would use now."""
    np.eye(2) @ np.eye(2)  # loads one if there is none yet
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library.get_num_threads() for library in libraries]


def pickled(value: T) -> T:
    """Return `value` as another process would receive it."""
    copy: T = pickle.loads(pickle.dumps(value))  # noqa: S301  # written a moment ago
    return copy


def evaluated(text: str) -> object:
    """Return what a repr stands for, as if a user pasted it."""
    return eval(text, vars(hb).copy())  # noqa: S307  # our own repr


def declare_commands(
    package: str,
    commands: Mapping[str, str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    group: str = "hetbo.commands",
) -> None:
    """Let this process, and those that it starts, find an installed package with commands.

    Args:
        package: The package's name.
        commands: The object that each command's entry point names.
        folder: Where the package's description goes; modules in it can be imported.
        monkeypatch: Undoes it.
        group: The group of entry points; another one for what is no command.
    """
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in commands.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]), "utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
