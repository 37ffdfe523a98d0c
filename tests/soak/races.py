"""Several processes want the same trial at the same time."""

import random
import time
from pathlib import Path

from soak.children import Ran, check_manners, command, works
from soak.faults import expect
from soak.studies import FILES, begun, check_outcomes, remove_locks, study_in, trials_in

ROUNDS = 5


def tells(rng: random.Random, folder: Path) -> None:
    """Tell a trial several values at once: one stays, and the others hear which."""
    place = rng.choice(FILES)
    named = study_in(folder, place)
    works(folder, "ask", "-n", str(ROUNDS), *named)
    for number in range(ROUNDS):
        told = [["0.125"], ["--failed"], ["4e300"], ["-1.5"]]
        several = [
            command(folder, "tell", str(number), *what, *named)
            for what in rng.sample(told, rng.choice([2, 3]))
        ]
        for child in several:
            child.go()
            time.sleep(rng.choice([0.0, 0.0, rng.uniform(0.0, 0.05)]))
        ran = [child.finish() for child in several]
        for one in ran:
            check_manners(one)
        _check_one_won(trials_in(folder / place)[number].value, ran)


def tunes(rng: random.Random, folder: Path) -> None:
    """Start several runs of `hetbo tune` that find the same trials, left by a kill."""
    place = rng.choice(FILES)
    named = study_in(folder, place)
    words = ("tune", "objective:loss", "--trials", "4", "--workers", "2", *named)
    killed = command(folder, *words, environment={"SOAK_SECONDS": "60"})
    killed.go()
    until = time.monotonic() + 60
    while len(begun(folder)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    killed.kill()
    killed.finish()
    remove_locks(folder)
    several = [command(folder, *words) for _ in range(rng.choice([2, 3]))]
    for child in several:
        child.go()
        time.sleep(rng.choice([0.0, rng.uniform(0.0, 1.0)]))
    for child in several:
        check_manners(child.finish())
    trials = trials_in(folder / place)
    check_outcomes(folder, trials, len(trials), may_fail=0)
    expect(4 <= len(trials) < 4 + len(several) * 2, "wrong", f"{len(trials)} trials")
    twice = [params for params, count in begun(folder).items() if count > 2]
    expect(not twice, "wrong", f"run by several processes at once: {twice}")
    again = sum(count == 2 for count in begun(folder).values())
    expect(again == 2, "wrong", f"{again} trials were run again where 2 were left")


def run(rng: random.Random, folder: Path) -> None:
    """Race for trials, mostly with `hetbo tell`, which takes less time."""
    rng.choice([tells, tells, tells, tunes])(rng, folder)


def _check_one_won(stored: float | None, ran: list[Ran]) -> None:
    winners = [one for one in ran if one.code == 0]
    expect(len(winners) == 1, "lost", f"{len(winners)} of them say that they were stored: {ran}")
    said = winners[0].what.split()[3].strip("'")
    told = None if said == "--failed" else float(said)
    expect(stored == told, "lost", f"{stored} is stored, but {winners[0]}")
    for one in ran:
        if one.code:
            known = "failed" if stored is None else repr(stored)
            expect(known in one.err, "wrong", f"it does not say that {known} is stored: {one}")
