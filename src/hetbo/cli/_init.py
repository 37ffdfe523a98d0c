"""`hetbo init`: set up a study to tune."""

import secrets
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hetbo.cli._commands import command
from hetbo.cli._names import listed, usable_name
from hetbo.cli._option_messages import said_for_init
from hetbo.cli._options import DEFAULT_PLACE, Names, Place, Switch
from hetbo.cli._output import say, say_command, show_notes
from hetbo.cli._space_files import SpaceFile, read_space_file, toml_lines
from hetbo.errors import DataError, HetboWarning, shown
from hetbo.experiments import Experiment, Goal
from hetbo.joint import JointSpace
from hetbo.joint._notes import notes_on

if TYPE_CHECKING:
    from hetbo.cli._target import Plan


def init(
    space: Path,
    *,
    study: str,
    source: Names = None,
    goal: Goal | None = None,
    method: str = "auto",
    seed: int | None = None,
    skip_unusable: Switch = False,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Set up a study to tune, from a TOML file of what is tuned today.

    The file: goal = "minimize" (or "maximize"), optionally value = "loss", and a table
    [parameters] of lines such as lr = { low = 1e-5, high = 0.1, log = true }, layers = { low = 1,
    high = 8 } (whole numbers, since both bounds are written without a point), dropout = { low =
    0.0, high = 0.5 } (real numbers), booster = { choices = ["gbtree", "dart"] }. None
    is { none = true }. A table [fixed] gives known values of parameters that only sources tuned:
    subsample = 0.8.

    Args:
        space: The TOML file.
        study: The new study's name.
        source: Past studies to learn from: STUDY, or STORAGE::STUDY if it is in another storage;
            patterns such as 'fraud-*' and 'archive.db::*'; files of runs, folders of CSV files,
            'runs/*.csv', which are stored beside the study.
        goal: Which way is better, if the file does not say or says otherwise.
        method: How to choose trials; 'auto' decides how far to trust the sources.
        seed: Where all random choices come from; a random one if not given.
        skip_unusable: Leave out sources that cannot be read or do not fit, and say which.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli._places import shown_place
    from hetbo.cli._sources import check_storable, experiments_of, read_sources
    from hetbo.cli._storages import check_free_at, make_room, storage_at
    from hetbo.cli._target import Plan, make_target

    usable_name("--study", study)
    if seed is not None and seed < 0:
        raise DataError(f"--seed {seed} must be a whole number of at least 0")
    described = read_space_file(space)
    better = _goal(described, goal, space)
    learned_from = read_sources(
        source or [],
        described,
        goal=better,
        place=storage,
        sharing=True,
        skip_unusable=skip_unusable,
    )
    experiments = experiments_of(learned_from)
    if any(source.new and source.study == study for source in learned_from):
        raise DataError(
            f"--study {shown(study)} is what the source in a file of that name will be called; "
            "choose another name"
        )
    plan = Plan(
        described.space,
        better,
        described.value or "value",
        described.fixed,
        tuple((found.place, found.study) for found in learned_from),
        method,
        secrets.randbits(32) if seed is None else seed,
    )
    check_free_at(storage, study)
    _check(plan, experiments)
    with storage_at(storage, create=True) as opened:
        make_room(opened, study)
        for stored in check_storable(opened, learned_from):
            stored.experiments[0].to_optuna(opened, study_name=stored.study)
        make_target(opened, study, plan)
    trials = sum(len(experiment.complete) for experiment in experiments)
    learns = f"learns from {trials} trials of {listed([e.name for e in experiments])}"
    say(
        f"{shown(study)}: {plan.goal} {plan.value}; "
        f"{learns if experiments else 'has no sources'}; stored in {shown_place(storage)}."
    )
    for line in toml_lines(plan.space, plan.fixed):
        say_command(line)
    show_notes(notes_on(plan.space, plan.goal, plan.fixed, experiments))
    say("")
    ask = command("ask", study=study, place=storage)
    tune = command("tune", "module:function", "--trials", "40", study=study, place=storage)
    say_command(f"What to try next: {ask}")
    say_command(f"Or let a Python function be tuned: {tune}")


def _check(plan: "Plan", experiments: Sequence[Experiment]) -> None:
    """Check what can be wrong with a plan, before anything is written: what is quick comes first.

    Raises:
        HetboError: Something is wrong.
    """
    with said_for_init():
        JointSpace.merge(plan.space, experiments, fixed=plan.fixed)
        # What a source has fixed as well says nothing new, and yet a later study may want to know.
        known = {name for e in experiments for name in (*e.space, *e.fixed)}
        for name in plan.fixed:
            if experiments and name not in known:
                raise DataError(f"[fixed] names {shown(name)}, which no source has")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HetboWarning)  # merging has said it
        plan.optimizer(experiments)


def _goal(described: SpaceFile, given: str | None, path: Path) -> Goal:
    if given is not None:
        return Goal.of(given)
    if described.goal is None:
        raise DataError(f'{path}: say goal = "minimize" or "maximize" at the top, or give --goal')
    return described.goal
