"""Commands that hetbo prints, so that they work when they are pasted into a shell."""

import os
import shlex

from hetbo.cli._options import DEFAULT_PLACE, PLACE_VARIABLE


def command(*words: str, study: str | None = None, place: str) -> str:
    """Return a command for the study and the storage that the command before it worked on.

    Args:
        words: What comes after `hetbo`, not quoted yet.
        study: The study, if it was given.
        place: The storage; it is said only if a command would not take it anyway. A password in
            it is not shown.
    """
    from hetbo.cli._places import shown_place

    options = [] if study is None else ["--study", study]
    if place != os.environ.get(PLACE_VARIABLE, DEFAULT_PLACE):
        options += ["--storage", shown_place(place)]
    return shlex.join(["hetbo", *words, *options])
