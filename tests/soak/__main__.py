"""Attacks hetbo in turns until the time is up, and counts what was lost, stuck or wrong."""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from soak.attacks import ATTACKS, Attack
from soak.faults import FaultError, Kind

_LONGEST_RUN = 300
_SECONDS_BETWEEN_LINES = 10.0
_CONSOLE = Console(highlight=False, soft_wrap=True)


@dataclass
class Tally:
    """What came of one attack so far."""

    seed: int
    runs: int = 0
    seconds: float = 0.0
    found: Counter[Kind] = field(default_factory=Counter)
    skipped: str = ""


def main(arguments: Sequence[str] | None = None, attacks: Mapping[str, Attack] = ATTACKS) -> int:
    """Attack until the time is up; return 1 if anything was found."""
    minutes, names, seed = _parsed(arguments, attacks)
    tallies = {name: Tally(seed) for name in names}
    until = said = time.monotonic()
    until += 60 * minutes
    # Each gets as much time as the others, and at least one run.
    while name := _next(tallies, time_is_up=time.monotonic() >= until):
        _run_once(name, attacks[name], tallies[name])
        if time.monotonic() - said > _SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            _CONSOLE.print(", ".join(f"{n} {t.runs}" for n, t in tallies.items() if t.runs))
    _CONSOLE.print(_table(tallies))
    return int(any(tally.found for tally in tallies.values()))


def _parsed(
    arguments: Sequence[str] | None, attacks: Mapping[str, Attack]
) -> tuple[float, Sequence[str], int]:
    parser = argparse.ArgumentParser(prog="script/soak", description=__doc__)
    parser.add_argument(
        "what", nargs="*", metavar="MINUTES ATTACK", help=f"2, {', '.join(attacks)}"
    )
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args(arguments)
    names, minutes = list(given.what), 2.0
    if names and names[0].replace(".", "", 1).isdigit():
        minutes = float(names.pop(0))
    for name in names:
        if name not in attacks:
            parser.error(f"unknown attack {name!r}; expected one of {', '.join(attacks)}")
    return minutes, names or list(attacks), given.seed


def _next(tallies: Mapping[str, Tally], *, time_is_up: bool) -> str | None:
    able = {n: t for n, t in tallies.items() if not t.skipped and not (time_is_up and t.runs)}
    return min(able, key=lambda name: able[name].seconds, default=None)


def _run_once(name: str, attack: Attack, tally: Tally) -> None:
    began, seed = time.monotonic(), tally.seed + tally.runs
    folder = Path(tempfile.mkdtemp(prefix="hetbo-soak-"))
    kind: Kind = "wrong"
    try:
        with _time_limit():
            attack(random.Random(f"{name} {seed}"), folder)
    except pytest.skip.Exception as skip:
        tally.skipped = str(skip)
    except FaultError as fault:
        _report(name, seed, folder, tally, fault.kind, str(fault))
    except Exception:  # noqa: BLE001  # whatever it is, the next attack goes on
        _report(name, seed, folder, tally, kind, traceback.format_exc(limit=-2))
    else:
        shutil.rmtree(folder)
    tally.runs += not tally.skipped
    tally.seconds += time.monotonic() - began


def _report(name: str, seed: int, folder: Path, tally: Tally, kind: Kind, what: str) -> None:
    tally.found[kind] += 1
    _CONSOLE.print(
        f"{name}: {what}\n  again: script/soak 0 {name} --seed {seed}   files: {folder}",
        markup=False,
    )


@contextmanager
def _time_limit() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise FaultError("stuck", f"the attack did not end in {_LONGEST_RUN} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_LONGEST_RUN)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _table(tallies: Mapping[str, Tally]) -> Table:
    table = Table("attack", "runs", "lost", "stuck", "wrong", "skipped because", box=None)
    for name, tally in tallies.items():
        found = [tally.found[kind] for kind in ("lost", "stuck", "wrong")]
        table.add_row(name, str(tally.runs), *map(str, found), tally.skipped)
    return table


if __name__ == "__main__":
    sys.exit(main())
