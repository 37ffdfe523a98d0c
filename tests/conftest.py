"""Settings that all tests share."""

from hypothesis import settings

pytest_plugins = ["readers"]

# The machines that run the tests are shared, so the time that one example takes says nothing.
settings.register_profile("hetbo", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("hetbo")
