"""Hypothesis strategies for parameters, spaces, experiments and families of them.

`tame` strategies keep numbers at sizes that people tune (whole millionths up to a million), where
the laws of encoding hold to many digits; the others go as far as floats do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from hetbo import Categorical, Experiment, Float, Goal, Int, JointSpace, Space, Trial, TrialState
from hetbo.spaces import Parameter, Value
from hetbo.spaces._values import choice_key

N = TypeVar("N", int, float)

ODD_NAMES = (
    "learning_rate",
    "min.node.size",
    "class",
    "größe",
    "学习率",
    "ﬁ",
    "a b",
    "[bold]x[/bold]",
    "<script>alert(1)</script>",
    'say "hi" \\n',
    "right\u202eto left",
    "self",
    "x=1",
)


@cache
def names() -> st.SearchStrategy[str]:
    """Names of parameters, odd ones among them."""
    return st.sampled_from(ODD_NAMES) | texts(min_size=1, max_size=6).filter(
        lambda text: bool(text.strip())
    )


@cache
def texts(*, min_size: int = 0, max_size: int) -> st.SearchStrategy[str]:
    """Texts of any script, without control characters."""
    characters = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])
    return st.text(characters, min_size=min_size, max_size=max_size)


@cache
def choices() -> st.SearchStrategy[Value]:
    """Whatever can be a choice of a category."""
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    return texts(max_size=5) | numbers | st.booleans() | st.none()


@cache
def categoricals() -> st.SearchStrategy[Categorical]:
    several = st.lists(choices(), min_size=1, max_size=5, unique_by=choice_key)
    return several.map(lambda given: Categorical(*given))


@cache
def floats(*, tame: bool = False) -> st.SearchStrategy[Float]:
    linear, log = (1e6, 1e6) if tame else (8e307, 1e150)
    return st.one_of(
        _ranges(_numbers(-linear, linear, tame=tame)).map(lambda r: Float(*r)),
        _ranges(_numbers(1 / log, log, tame=tame)).map(lambda r: Float(*r, log=True)),
    )


@cache
def ints(*, tame: bool = False) -> st.SearchStrategy[Int]:
    largest = 10**6 if tame else 2**53
    return st.one_of(
        _ranges(st.integers(-largest, largest)).map(lambda r: Int(*r)),
        _ranges(st.integers(1, largest)).map(lambda r: Int(*r, log=True)),
    )


def _numbers(low: float, high: float, *, tame: bool) -> st.SearchStrategy[float]:
    every = st.floats(low, high)
    return every.map(lambda number: round(number, 6)) if tame else every


def _ranges(numbers: st.SearchStrategy[N]) -> st.SearchStrategy[tuple[N, N]]:
    pairs = st.lists(numbers, min_size=2, max_size=2, unique=True)
    return pairs.map(lambda pair: (min(pair), max(pair)))


@cache
def parameters(*, tame: bool = False) -> st.SearchStrategy[Parameter]:
    return floats(tame=tame) | ints(tame=tame) | categoricals()


def values(parameter: Parameter, *, tame: bool = False) -> st.SearchStrategy[Value]:
    """Values that fit a parameter."""
    match parameter:
        case Float(low, high):
            return _numbers(low, high, tame=tame)
        case Int(low, high):
            return st.integers(low, high)
        case Categorical():
            return st.sampled_from(parameter.choices)
        case _:
            raise TypeError(f"no strategy for {parameter!r}")


def spaces(*, tame: bool = False, largest: int = 5) -> st.SearchStrategy[Space]:
    mappings = st.dictionaries(names(), parameters(tame=tame), min_size=1, max_size=largest)
    return mappings.map(Space.from_mapping)


def params(space: Space, *, tame: bool = False) -> st.SearchStrategy[dict[str, Value]]:
    """Values for all parameters of a space."""
    return st.fixed_dictionaries({name: values(space[name], tame=tame) for name in space})


def trials(space: Space) -> st.SearchStrategy[Trial]:
    """Complete, failed and pending trials of a space."""
    finite = st.floats(allow_nan=False, allow_infinity=False)
    noise = st.none() | st.floats(0, allow_infinity=False)
    states = st.sampled_from([TrialState.FAILED, TrialState.PENDING])
    return st.one_of(
        st.builds(lambda p, v, n: Trial(p, v, noise=n), params(space), finite, noise),
        st.builds(lambda p, s: Trial(p, state=s), params(space), states),
    )


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    space = draw(spaces())
    beside = names().filter(lambda name: name not in space)
    return Experiment(
        draw(names()),
        space,
        draw(st.lists(trials(space), max_size=4)),
        goal=draw(st.sampled_from(Goal)),
        fixed=draw(st.dictionaries(beside, choices(), max_size=3)),
    )


@cache
def families() -> st.SearchStrategy[list[frozenset[str]]]:
    """The names of the parameters of up to 8 experiments, out of 12 in all."""
    twelve = st.sampled_from([f"p{number}" for number in range(12)])
    return st.lists(st.frozensets(twelve, min_size=1), min_size=1, max_size=8)


@dataclass(frozen=True)
class Family:
    """A target and sources that can be merged."""

    target: Space
    fixed: Mapping[str, Value]
    sources: tuple[Experiment, ...]

    @property
    def joint(self) -> JointSpace:
        return JointSpace.merge(self.target, self.sources, fixed=self.fixed)


@cache
def _kinds() -> st.SearchStrategy[dict[str, st.SearchStrategy[Parameter]]]:
    few = st.sampled_from(["tree", "dart", "", 1, 2.5, True, None])
    several = st.lists(few, min_size=1, max_size=4, unique_by=choice_key)
    category = several.map(lambda given: Categorical(*given))
    number = floats(tame=True) | ints(tame=True)
    return st.dictionaries(
        st.sampled_from(ODD_NAMES), st.sampled_from([number, category]), min_size=1, max_size=5
    )


@st.composite
def mergeable(draw: st.DrawFn) -> Family:
    """A target and up to 3 sources: each name is a number everywhere, or a category everywhere."""
    kinds = draw(_kinds())
    every = sorted(kinds)

    def member() -> tuple[Space, dict[str, Value]]:
        tuned = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
        space = Space.from_mapping({name: draw(kinds[name]) for name in tuned})
        known = [name for name in every if name not in space and draw(st.booleans())]
        return space, {name: draw(values(draw(kinds[name]), tame=True)) for name in known}

    target, fixed = member()
    sources: list[Experiment] = []
    for number in range(draw(st.integers(0, 3))):
        space, known = member()
        tried = draw(st.lists(params(space, tame=True), max_size=2))
        sources.append(
            Experiment(f"source {number}", space, map(Trial, tried), fixed=known, goal="minimize")
        )
    return Family(target, fixed, tuple(sources))
