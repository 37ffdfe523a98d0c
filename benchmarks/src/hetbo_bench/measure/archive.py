"""What an `ask` costs with thousands of old trials, or with thousands of one's own.

usage: script/bench archive [PART ...] [--asks N] [--limit SECONDS] [--method NAME]

parts: sizes   `ask` with archives of several sizes, relative to that at Hartmann size, and growth
       own     `ask` with hundreds and thousands of the target's own trials, and growth
       start   digesting archives on all cores, the second start, and the peak memory

Without a part, all of them. `sizes` and `own` run in one process on one thread, and count its
seconds of processor time, so that what else the machine does hardly matters; asks at Hartmann size
alternate with those that are compared with them. `start` counts seconds of the clock, in processes
of their own with a cache of their own. What takes longer than the limit is given up, and said so.
"""

import argparse
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

import numpy as np

import hetbo as hb
from hetbo.errors import DataError
from hetbo.methods import Recipe
from hetbo_bench.methods import BENCHED
from hetbo_bench.problems.named import problem_named
from hetbo_bench.problems.objectives import Objective, random_trials
from hetbo_bench.problems.problem import Problem

SIZES = ((10, 30), (1, 1_000), (10, 100), (100, 30), (100, 100), (1, 10_000))
"""Experiments, and the trials of each."""

GROWTHS = (((1, 1_000), (1, 10_000)), ((10, 100), (100, 100)))
"""From 1,000 old trials to 10,000: in one experiment, and in ten times as many."""

OWN = (300, 1_000, 2_000)
STARTS = ((100, 100), (1, 10_000))
AT_MOST = 3.0
_FIRST, _HARTMANN_FIRST = 5, 10
_OWN_ASKS = 3


class TooSlow(BaseException):  # like KeyboardInterrupt, it is nobody's to handle
    """A measurement took longer than the limit."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End the block with `TooSlow` after so many seconds of the clock."""

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    if not hasattr(signal, "setitimer"):  # on Windows
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def made(problem: Problem, method: str) -> hb.Optimizer:
    """Return an optimizer that knows a problem's sources, and no trial."""
    recipe = BENCHED[method]
    if not isinstance(recipe, Recipe):
        raise DataError(f"method={method!r} must be one of hetbo's engine; {method} is a peer")
    return hb.Optimizer(
        problem.space,
        sources=problem.start(0).sources,
        goal=problem.goal,
        method=recipe,
        seed=0,
    )


@dataclass
class Session:
    """An optimizer that asks again and again, and what each `ask` took.

    Attributes:
        problem: What is optimised.
        optimizer: The optimizer, which knows the first trials.
        seconds: The processor time of each `ask`.
    """

    problem: Problem
    optimizer: hb.Optimizer
    seconds: list[float] = field(default_factory=list)

    @classmethod
    def begun(cls, name: str, method: str, own_trials: int) -> "Session":
        """Return a session with so many random trials of the target."""
        problem = problem_named(name)
        optimizer = made(problem, method)
        values = Objective(
            space=problem.space,
            goal=problem.goal,
            values=lambda rows: np.array([problem.evaluate(row) for row in rows]),
        )
        for trial in random_trials(values, own_trials, np.random.default_rng(1)):
            optimizer.tell(trial.params, trial.value or 0.0)
        return cls(problem, optimizer)

    def ask(self) -> None:
        """Ask, and tell the value of what was suggested."""
        began = time.process_time()
        suggestion = self.optimizer.ask()
        self.seconds.append(time.process_time() - began)
        self.optimizer.tell(suggestion, self.problem.evaluate(suggestion.params))

    @property
    def median(self) -> float:
        """The median of all but the first `ask`."""
        return statistics.median(self.seconds[1:] or self.seconds)


def archive_name(experiments: int, trials: int) -> str:
    """Return the name of Hartmann's function with an archive of some size."""
    return f"hartmann-archive_{trials}/experiments={experiments}/unrelated=0.3"


def say(text: str) -> None:
    """Print at once: what comes next may take minutes."""
    print(text, flush=True)


def measure_sizes(method: str, asks: int, limit: float) -> None:
    """Print what an `ask` takes with archives of several sizes."""
    say(f"\n`ask` of {method}, median of {asks} after the first one with {_FIRST} target trials\n")
    found: dict[tuple[int, int], float] = {}
    for experiments, trials in SIZES:
        label = f"{experiments:4d} x {trials:<6,d}"
        base = Session.begun("hartmann_30", method, _HARTMANN_FIRST)
        session = Session.begun(archive_name(experiments, trials), method, _FIRST)
        try:
            with at_most(limit):
                for _ in range(asks + 1):
                    session.ask()
                    base.ask()
        except TooSlow:
            say(f"  {label} not done within {limit:g} s: {_so_far(session)}")
            continue
        found[experiments, trials] = session.median
        ratio = session.median / base.median
        say(
            f"  {label} {session.median:7.3f} s, {ratio:5.2f} times the {base.median:.3f} s at "
            f"Hartmann size (at most {AT_MOST:g}); the first {session.seconds[0]:.2f} s"
        )
    for small, large in GROWTHS:
        if small in found and large in found:
            say(
                f"  growth exponent from {_text(small)} to {_text(large)}: "
                f"{_exponent(math.prod(small), found[small], math.prod(large), found[large]):.2f} "
                "(at most 1.1)"
            )


def measure_own(method: str, limit: float) -> None:
    """Print what an `ask` takes with many trials of the target's own."""
    say(f"\n`ask` of {method} with the target's own trials, and a source of 30\n")
    found: dict[int, float] = {}
    for count in OWN:
        session = Session.begun("hartmann_30", method, count)
        try:
            with at_most(limit):
                for _ in range(_OWN_ASKS + 1):
                    session.ask()
        except TooSlow:
            say(f"  {count:6,d} not done within {limit:g} s: {_so_far(session)}")
            continue
        found[count] = session.median
        say(f"  {count:6,d} {session.median:7.3f} s; the first {session.seconds[0]:.2f} s")
    small, large = OWN[0], OWN[-1]
    if small in found and large in found:
        exponent = _exponent(small, found[small], large, found[large])
        say(f"  growth exponent from {small:,d} to {large:,d}: {exponent:.2f} (at most 1.3)")


def measure_starts(method: str, limit: float) -> None:
    """Print what the first and the second start of a study with an archive take."""
    say(
        f"\nthe first `ask` of {method} with nothing digested, and again ({os.cpu_count()} cores)\n"
    )
    for experiments, trials in STARTS:
        with tempfile.TemporaryDirectory() as folder:
            for label in ("first", "second"):
                environment = {**os.environ, "XDG_CACHE_HOME": folder, "HOME": folder}
                command = [sys.executable, "-m", __spec__.name, "--one-start", method]
                try:
                    done = subprocess.run(  # noqa: S603  # this very file
                        [*command, str(experiments), str(trials)],
                        env=environment,
                        timeout=limit,
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                except subprocess.TimeoutExpired:
                    say(f"  {experiments} x {trials:,d}, {label} start: not done in {limit:g} s")
                    break
                if done.returncode:
                    say(
                        f"  {experiments} x {trials:,d}, {label} start failed: {done.stderr[-300:]}"
                    )
                    break
                start = json.loads(done.stdout.splitlines()[-1])
                say(
                    f"  {experiments} x {trials:,d}, {label} start: optimizer "
                    f"{start['made']:.2f} s, first ask {start['asked']:.2f} s, peak memory "
                    f"{start['mebibytes']:.0f} MiB"
                )


def one_start(method: str, experiments: int, trials: int) -> None:
    """Make an optimizer with an archive, ask once, and print the seconds and the memory."""
    problem = problem_named(archive_name(experiments, trials))
    start = problem.start(0)
    began = time.perf_counter()
    optimizer = made(problem, method)
    for trial in start.trials:
        optimizer.tell(trial.params, trial.value or 0.0)
    seconds_made = time.perf_counter() - began
    optimizer.ask()
    asked = time.perf_counter() - began - seconds_made
    kibibytes = sum(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(json.dumps({"made": seconds_made, "asked": asked, "mebibytes": kibibytes / 1024}))


def _so_far(session: Session) -> str:
    if not session.seconds:
        return "the first ask was not over"
    return f"{len(session.seconds)} asks, their median {session.median:.2f} s"


def _exponent(small: int, quick: float, large: int, slow: float) -> float:
    return math.log(slow / quick) / math.log(large / small)


def _text(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]:,d}"


def main(arguments: list[str]) -> None:
    """Measure what the command line asks for."""
    warnings.simplefilter("ignore")
    if arguments[:1] == ["--one-start"]:
        method, experiments, trials = arguments[1:]
        one_start(method, int(experiments), int(trials))
        return
    parser = argparse.ArgumentParser(prog="script/bench archive")
    parser.add_argument("parts", nargs="*", help="sizes, own, start; all if none is given")
    parser.add_argument("--asks", type=int, default=20, help="how many asks a median is of")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each measurement")
    parser.add_argument("--method", default="auto", choices=sorted(BENCHED))
    options = parser.parse_args(arguments)
    parts = {
        "sizes": lambda: measure_sizes(options.method, options.asks, options.limit),
        "own": lambda: measure_own(options.method, options.limit),
        "start": lambda: measure_starts(options.method, options.limit),
    }
    for part in options.parts or parts:
        if part not in parts:
            parser.error(f"unknown part {part!r}; expected one of {', '.join(parts)}")
        parts[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
