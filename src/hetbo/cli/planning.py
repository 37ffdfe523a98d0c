"""What changed since the sources, and a study to tune what is there today."""

import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from hetbo.cli.names import usable_name
from hetbo.cli.output import cut, say
from hetbo.cli.space_files import SpaceFile, read_space_file, toml_lines
from hetbo.cli.storages import check_free, shown_place, storage_at
from hetbo.cli.targets import Plan, make_target, parsed_source, read_plan_sources
from hetbo.errors import DataError, printable, shown
from hetbo.experiments import Experiment, Goal
from hetbo.joint import JointSpace

_NARROWEST = 60


def show_diff(path: Path, sources: Sequence[str], *, place: str) -> None:
    """Print what changed between some sources and a space, and what it means."""
    described = read_space_file(path)
    experiments = _read([parsed_source(source) for source in sources], place)
    joint = JointSpace.merge(
        described.space, experiments, fixed=described.fixed, target_name=_target_name(path)
    )
    console = Console(highlight=False)
    console.print(
        joint.describe(width=max(console.width, _NARROWEST)), markup=False, soft_wrap=True
    )
    say("")
    say("Which parameters are shared by which experiments:")
    console.print(joint.tree().text(), markup=False)


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
    from hetbo.optimizer import Optimizer  # noqa: PLC0415  # loads PyTorch

    usable_name("--study", study)
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
    # Whatever is wrong with the plan shows here, before anything is written.
    Optimizer(
        plan.space,
        sources=experiments,
        goal=plan.goal,
        method=method,
        seed=plan.seed,
        fixed=plan.fixed,
    )
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
    say("")
    say("'hetbo ask' suggests what to try; 'hetbo tune module:function' runs it all.")


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
            f"the source {shown(source.name)} tuned {shown(', '.join(source.space))}, none of "
            f"which is in {path}: nothing can be learned from it. If only the names differ, "
            "import it again with --rename; else leave it out"
        )


def _target_name(path: Path) -> str:
    return printable(path.stem)
