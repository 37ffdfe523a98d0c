"""Settings that all tests share, those of hetbo and those of its benchmarks."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

pytest_plugins = ["installation", "readers", "trackers"]

# The machines that run the tests are shared, so the time that one example takes says nothing.
settings.register_profile("hetbo", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("hetbo")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest tests, so that no process works alone at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(autouse=True, scope="session")
def no_cache() -> Iterator[None]:
    """Keep digests neither in the user's cache nor from one run of the tests to the next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HETBO_CACHE", "off")
        yield


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C reach this process and those that it starts, in a shell's background job, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
