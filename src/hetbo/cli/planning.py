"""What changed since the sources, and a study to tune what is there today."""

import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from hetbo.cli.commands import command
from hetbo.cli.names import listed, usable_name
from hetbo.cli.output import cut, say, say_command
from hetbo.cli.plan_notes import plan_notes
from hetbo.cli.space_files import SpaceFile, read_space_file, toml_lines
from hetbo.cli.storages import check_free, check_free_at, shown_place, storage_at
from hetbo.cli.targets import Plan, make_target, parsed_source, read_plan_sources
from hetbo.cli.wording import said_for_init
from hetbo.errors import DataError, printable, shown
from hetbo.experiments import Experiment, Goal
from hetbo.joint import JointSpace

_NARROWEST = 60


def show_diff(path: Path, sources: Sequence[str], *, place: str) -> None:
    """Print what changed between some sources and a space, and what it means."""
    described = read_space_file(path)
    experiments = _read([parsed_source(source) for source in sources], place)
    name = _target_name(path, experiments)
    with said_for_init():
        joint = JointSpace.merge(
            described.space, experiments, fixed=described.fixed, target_name=name
        )
    console = Console(highlight=False)
    console.print(
        joint.describe(width=max(console.width, _NARROWEST)), markup=False, soft_wrap=True
    )
    say("")
    say("Which parameters are shared by which experiments:")
    console.print(joint.tree().text(), markup=False)
    _show_notes(plan_notes(described.goal, described.fixed, experiments))


def set_up(
    path: Path,
    *,
    study: str,
    sources: Sequence[str],
    goal: str | None,
    method: str,
    seed: int | None,
    place: str,
) -> None:
    """Make a study that `ask` and `tune` work on."""
    usable_name("--study", study)
    if seed is not None and seed < 0:
        raise DataError(f"--seed {seed} must be a whole number of at least 0")
    described = read_space_file(path)
    plan = Plan(
        described.space,
        _goal(described, goal, path),
        described.value or "value",
        described.fixed,
        tuple(dict.fromkeys(map(parsed_source, sources))),
        method,
        secrets.randbits(32) if seed is None else seed,
    )
    experiments = _read(plan.sources, place)
    for experiment in experiments:
        _check_shared(experiment, described, path)
    check_free_at(place, study)
    _check(plan, experiments)
    with storage_at(place, create=True) as storage:
        check_free(storage, study)
        make_target(storage, study, plan)
    trials = sum(len(experiment.complete) for experiment in experiments)
    learns = f"learns from {trials} trials of {', '.join(shown(e.name) for e in experiments)}"
    say(
        f"{shown(study)}: {plan.goal} {plan.value}; "
        f"{learns if experiments else 'has no sources'}; stored in {shown_place(place)}."
    )
    for line in toml_lines(plan.space, plan.fixed):
        say(cut(line, 300))
    _show_notes(plan_notes(plan.goal, plan.fixed, experiments))
    say("")
    ask = command("ask", study=study, place=place)
    tune = command("tune", "module:function", "--trials", "40", study=study, place=place)
    say_command(f"What to try next: {ask}")
    say_command(f"Or let a Python function be tuned: {tune}")


def _check(plan: Plan, experiments: Sequence[Experiment]) -> None:
    """Check what can be wrong with a plan, before anything is written: what is quick comes first.

    Raises:
        HetboError: Something is wrong.
    """
    with said_for_init():
        JointSpace.merge(plan.space, experiments, fixed=plan.fixed)
        for name in plan.fixed:
            if not any(name in experiment.space for experiment in experiments):
                raise DataError(f"[fixed] names {shown(name)}, which no source tunes")
    plan.optimizer(experiments)


def _show_notes(notes: Sequence[str]) -> None:
    for line in ["", *notes] if notes else []:
        say(line)


def _read(sources: Sequence[tuple[str | None, str]], place: str) -> list[Experiment]:
    own = any(storage is None for storage, _ in sources)
    with storage_at(place) if own else nullcontext() as storage:
        return read_plan_sources(storage, sources)


def _goal(described: SpaceFile, given: str | None, path: Path) -> Goal:
    if given is not None:
        return Goal.of(given)
    if described.goal is None:
        raise DataError(f'{path}: say goal = "minimize" or "maximize" at the top, or give --goal')
    return described.goal


def _check_shared(source: Experiment, described: SpaceFile, path: Path) -> None:
    if not {*source.space, *source.fixed} & {*described.space}:
        raise DataError(
            f"the source {shown(source.name)} tuned {listed(source.space.names)}, none of "
            f"which is in {path}: nothing can be learned from it. If only the names differ, "
            "import it again with --rename; else leave it out"
        )


def _target_name(path: Path, sources: Sequence[Experiment]) -> str:
    """Return how to call the target: like its file, but never like a source."""
    taken = {source.name for source in sources}
    names = (path.stem, path.name, str(path), str(path.absolute()))
    return next((name for name in map(printable, names) if name not in taken), "target")
