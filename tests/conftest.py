"""Settings that all tests share."""

import pytest
from hypothesis import settings

pytest_plugins = ["readers"]

# The machines that run the tests are shared, so the time that one example takes says nothing.
settings.register_profile("hetbo", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("hetbo")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest tests, so that no process works alone at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
