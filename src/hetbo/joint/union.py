"""The union of a target's space and its sources', in natural units."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from hetbo.errors import DataError, MergeError, SpaceError, shown
from hetbo.experiments import Experiment
from hetbo.joint.blocks import Block, find_blocks
from hetbo.joint.changes import Change, changes_between, render_changes
from hetbo.joint.tree import SpaceTree
from hetbo.spaces import Categorical, Float, Int, Numeric, Parameter, Space, Value
from hetbo.spaces.parameters import choice_key


@dataclass(frozen=True, slots=True)
class Member:
    """One experiment's part in a joint space.

    Attributes:
        name: The experiment's name.
        space: What it tunes.
        fixed: The known values of joint parameters that it does not tune.
    """

    name: str
    space: Space
    fixed: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class JointSpace:
    """The union of a target's space and its sources'.

    Values keep their natural units. A numeric parameter's joint range is the hull of all ranges,
    its scale the target's; a categorical one has the choices of all experiments. The target is
    experiment 0, the sources follow in the order of their names.

    Attributes:
        members: The experiments, the target first.
        space: All parameters: the target's first, then the others as they are met.
        sources: The sources that were merged.
    """

    members: tuple[Member, ...]
    space: Space
    sources: tuple[Experiment, ...]

    @classmethod
    def merge(
        cls,
        target: Space,
        sources: Iterable[Experiment] = (),
        *,
        fixed: Mapping[str, Value] | None = None,
        target_name: str = "target",
    ) -> Self:
        """Merge a target's space with its sources'.

        Args:
            target: What is tuned now.
            sources: The past experiments, each in its own space.
            fixed: Known values that the target will hold for parameters that only sources tune.
            target_name: How descriptions call the target.

        Raises:
            MergeError: A parameter is a number in one experiment and a category in another, two
                experiments have the same name, or the target fixes a parameter that it tunes, or
                at something that is no value.
        """
        # One order, whatever the caller's: columns, parameters and random starts of models follow
        # it, and which of several equally good fits is found must not depend on a list's order.
        sources = tuple(sorted(sources, key=lambda source: source.name))
        try:
            known = Experiment(target_name, target, fixed=fixed).fixed
        except DataError as error:
            raise MergeError(str(error)) from None
        given = [(target_name, target, known)]
        given += [(source.name, source.space, source.fixed) for source in sources]
        _check_names([name for name, _, _ in given])
        names = dict.fromkeys(name for _, space, _ in given for name in space)
        members = tuple(
            Member(who, space, {name: value for name, value in known.items() if name in names})
            for who, space, known in given
        )
        joint = {name: _merge_parameter(name, members, sources) for name in names}
        return cls(members, Space.from_mapping(joint), sources)

    @property
    def target(self) -> Member:
        """The experiment that is optimised."""
        return self.members[0]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The parameters, split by the experiments that tune them."""
        return find_blocks([member.space.names for member in self.members])

    @property
    def changes(self) -> tuple[Change, ...]:
        """What changed between each source and the target, and what that means."""
        return tuple(
            change
            for source in self.sources
            for change in changes_between(source, self.target.space, self.target.fixed)
        )

    def describe(self, *, width: int = 100) -> str:
        """Return a table of what changed between each source and the target.

        Args:
            width: How many characters wide the table may be.
        """
        return render_changes(self.sources, self.target.name, self.changes, width=width)

    def tree(self) -> SpaceTree:
        """Return the blocks as a tree, as in Figure 1 of the paper."""
        return SpaceTree(self.blocks, tuple(member.name for member in self.members))


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise MergeError(f"two experiments are called {name!r}; give one another name=")


def _merge_parameter(
    name: str, members: Sequence[Member], sources: Sequence[Experiment]
) -> Parameter:
    tuned = {m.name: m.space[name] for m in members if name in m.space}
    known = {m.name: m.fixed[name] for m in members if name in m.fixed}
    categorical = {who: p for who, p in tuned.items() if isinstance(p, Categorical)}
    numeric = {who: p for who, p in tuned.items() if not isinstance(p, Categorical)}
    if categorical and numeric:
        raise _conflict(name, next(iter(numeric.items())), next(iter(categorical.items())))
    if categorical:
        every = [choice for p in categorical.values() for choice in p.choices] + [*known.values()]
        return Categorical(*{choice_key(choice): choice for choice in every}.values())
    for who, value in known.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _conflict(name, next(iter(numeric.items())), (who, value))
    values = [value for value in known.values() if isinstance(value, int | float)]
    return _hull(name, list(numeric.values()), values, members[0], sources)


def _hull(
    name: str,
    parameters: Sequence[Numeric],
    values: Sequence[float],
    target: Member,
    sources: Sequence[Experiment],
) -> Numeric:
    own = target.space.get(name)
    log = own.log if isinstance(own, Float | Int) else any(p.log for p in parameters)
    low = min([*(p.low for p in parameters), *values])
    high = max([*(p.high for p in parameters), *values])
    if log and low <= 0:
        # A source went down to zero or below on a linear scale. Its positive trials keep their
        # place; the others stand at the low end, which `describe` says.
        lows = [p.low for p in parameters]
        low = min(v for v in [*lows, *values, *_tried(name, sources)] if v > 0)
    whole = all(isinstance(p, Int) for p in parameters) and all(v == int(v) for v in values)
    kind = Int if whole else Float
    try:
        return kind(low, high, log=log)  # type: ignore[arg-type]  # whole if kind is Int
    except SpaceError as error:
        raise MergeError(f"{name!r}: the joint range cannot be used: {error}") from None


def _tried(name: str, sources: Sequence[Experiment]) -> Iterable[float]:
    for source in sources:
        for trial in source.trials:
            value = trial.params.get(name)
            if isinstance(value, int | float):
                yield value


def _conflict(
    name: str, number: tuple[str, Numeric], other: tuple[str, Categorical | Value]
) -> MergeError:
    return MergeError(
        f"{name!r} is a number in {number[0]} ({number[1]!r}) and a category in {other[0]} "
        f"({shown(other[1])}). If they are different things, rename one "
        f"(rename={{{name!r}: ...}}); if it does not matter, leave it out (drop=[{name!r}])"
    )
