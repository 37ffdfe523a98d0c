"""The command line. Commands load what they need when they run, so that help is quick."""

from hetbo.cli.main import main

__all__ = ["main"]
