"""The union of a target's space and its sources', in natural units."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from hetbo.errors import DataError, HetboWarning, MergeError, SpaceError, shown
from hetbo.experiments import Experiment
from hetbo.experiments._experiment import experiments_in
from hetbo.experiments._fixed import checked_fixed
from hetbo.joint._blocks import Block, find_blocks
from hetbo.joint._changes import Change, changes_between
from hetbo.joint._description import describe_changes
from hetbo.joint._notes import summed
from hetbo.joint._spellings import respelled
from hetbo.joint._tree import SpaceTree
from hetbo.spaces import Parameter, Space, Value


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
        sources: The sources that were merged, their choices in the target's spelling.
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
        warn: Callable[[str], None] | None = None,
    ) -> Self:
        """Merge a target's space with its sources'.

        A choice of a source that differs from one of the target's in case and blanks only counts
        as that one, with a warning.

        Args:
            target: What is tuned now.
            sources: The past experiments, each in its own space.
            fixed: Known values that the target will hold for parameters that only sources tune.
            target_name: How descriptions call the target.
            warn: Takes each warning, to say it in another way or not at all.

        Raises:
            DataError: What is given is no list of experiments.
            MergeError: A parameter is a number in one experiment and a category in another, two
                experiments have the same name, or the target fixes a parameter that it tunes, or
                at something that is no value.
        """
        # One order, whatever the caller's: columns, parameters and random starts of models follow
        # it, and which of several equally good fits is found must not depend on a list's order.
        given_sources = experiments_in(sources, "sources")
        sources = tuple(sorted(given_sources, key=lambda source: source.name))
        try:
            known = checked_fixed(target_name, target, fixed or {})
        except DataError as error:
            raise MergeError(str(error)) from None
        spelled = [respelled(source, target, known) for source in sources]
        told: dict[tuple[str, str], dict[str, str]] = {}
        for source, sentences in spelled:
            for choice, sentence in sentences.items():
                told.setdefault(choice, {})[source.name] = sentence
        for of_choice in told.values():
            for sentence in summed(of_choice):
                if warn is None:
                    warnings.warn(sentence, HetboWarning, stacklevel=2)
                else:
                    warn(sentence)
        sources = tuple(source for source, _ in spelled)
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

        More than ten sources are grouped by equal spaces; of more than ten groups those that
        differ most have a table, and the others are counted.

        Args:
            width: How many characters wide the table may be.
        """
        return describe_changes(
            self.sources,
            self.target.space,
            fixed=self.target.fixed,
            name=self.target.name,
            width=width,
        )

    def tree(self) -> SpaceTree:
        """Return the blocks as a tree, as in Figure 1 of the paper."""
        return SpaceTree(self.blocks, tuple(member.name for member in self.members))


def _check_names(names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise MergeError(f"two experiments are called {name!r}; give one another name=")


def _merge_parameter(
    name: str, members: Sequence[Member], sources: Sequence[Experiment]
) -> Parameter:
    tuned = {m.name: m.space[name] for m in members if name in m.space}
    known = {m.name: m.fixed[name] for m in members if name in m.fixed}
    (first, parameter), *others = tuned.items()
    unlike = [(who, p.family, shown(p)) for who, p in others if p.family != parameter.family]
    unlike += [
        (who, f"not {parameter.family}", shown(value))
        for who, value in known.items()
        if not parameter.accepts(value)
    ]
    for who, family, what in unlike:
        raise MergeError(
            f"{name!r} is {parameter.family} in {first} ({shown(parameter)}) and {family} in {who} "
            f"({what}). If they are different things, rename one (rename={{{name!r}: ...}}); "
            f"if it does not matter, leave it out (drop=[{name!r}])"
        )
    try:
        return parameter.merge(
            [other for _, other in others],
            fixed=[*known.values()],
            tried=(t.params[name] for s in sources for t in s.trials if name in t.params),
            of_target=name in members[0].space,
        )
    except SpaceError as error:
        raise MergeError(f"{name!r}: the joint range cannot be used: {error}") from None
