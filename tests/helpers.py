"""What several test files need beside strategies."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

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


def pickled(value: T) -> T:
    """Return `value` as another process would receive it."""
    copy: T = pickle.loads(pickle.dumps(value))  # noqa: S301  # written a moment ago
    return copy


def evaluated(text: str) -> object:
    """Return what a repr stands for, as if a user pasted it."""
    return eval(text, vars(hb).copy())  # noqa: S307  # our own repr
