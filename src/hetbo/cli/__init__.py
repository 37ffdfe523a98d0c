"""The command line, and what commands of other packages may use; see `_plugins`.

Commands load what they need when they run, so that help is quick.
"""

from hetbo._files import read_json, write_text_atomically
from hetbo._processes import interrupts_held, worker_pool
from hetbo._threads import one_thread_for
from hetbo.cli._output import say, say_command
from hetbo.cli.main import main

__all__ = [
    "interrupts_held",
    "main",
    "one_thread_for",
    "read_json",
    "say",
    "say_command",
    "worker_pool",
    "write_text_atomically",
]
