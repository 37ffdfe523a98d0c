"""Runs to report on."""

import numpy as np

from hetbo import Categorical, Experiment, Float, Int, Optimizer, Space, Trial

SPACE = Space(rate=Float(1e-3, 1.0, log=True), depth=Int(1, 6), kind=Categorical("a", "b"))
ATTACKS = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=2</script>",
    '"\' onload="window.hacked=3" \'',
    "<img src=x onerror=window.hacked=4>",
    '<a href="javascript:window.hacked=5">x</a>',
    "&lt;b&gt; &amp; &#60;",
    "=1+1 $x^2$ %{x} ${y}",
    "\u202eleft\u200b\u00a0right",
    "<!--<script>",
)
UNPRINTABLE = "two\u2028lines\u2029and\nmore\x00 \ud800"
"""No name or choice holds such characters; a title may."""


def told(optimizer: Optimizer, count: int, seed: int = 0) -> Optimizer:
    """Tell random values at random places."""
    rng = np.random.default_rng(seed)
    if count:
        for suggestion in Optimizer(
            optimizer.space, method="random", seed=seed, goal="minimize"
        ).ask(count):
            optimizer.tell(suggestion.params, float(rng.normal()))
    return optimizer


def source(name: str = "past", space: Space = SPACE, count: int = 6) -> Experiment:
    """Return random trials as a source."""
    return told(Optimizer(space, seed=0, goal="minimize"), count, seed=9).as_experiment(name)


def attacked() -> Optimizer:
    """Return a run all of whose names and choices are attacks, or very long."""
    space = Space.from_mapping(
        {
            **{text: Float(0, 1) for text in ATTACKS[:3]},
            ATTACKS[3]: Categorical(*ATTACKS, "x" * 1_000_000),
        }
    )
    old = space.drop(ATTACKS[0], ATTACKS[3])
    sources = [source(text, old, 3) for text in (ATTACKS[4], "y" * 1_000_000)]
    optimizer = Optimizer(
        space, sources=sources, method="learned-imputation", seed=0, n_initial=2, goal="minimize"
    )
    return told(optimizer, 4)


def wave(rate: float, depth: int, kind: str = "a", c: float = 0.3) -> float:
    """Return a value that depends on all parameters."""
    return float(np.sin(2 * np.log10(rate)) + 0.2 * abs(depth - 3) + (c - 0.4) ** 2 + (kind == "b"))


def tuned_run() -> Optimizer:
    """Return a run with a source, eight values, a failure and a pending trial."""
    rng = np.random.default_rng(1)
    old = SPACE.drop("kind")
    past = [(float(10 ** rng.uniform(-3, 0)), int(rng.integers(1, 7))) for _ in range(12)]
    before = Experiment(
        "past",
        old,
        [Trial({"rate": r, "depth": d}, 3 * wave(r, d)) for r, d in past],
        goal="minimize",
    )
    optimizer = Optimizer(
        SPACE.replace(c=Float(0.0, 1.0)), sources=[before], seed=3, n_initial=3, goal="minimize"
    )
    for number in range(9):
        rate, c = float(10 ** rng.uniform(-3, 0)), float(rng.random())
        depth, kind = int(rng.integers(1, 7)), "ab"[number % 2]
        params: dict[str, str | float] = {"rate": rate, "depth": depth, "kind": kind, "c": c}
        if number == 4:
            optimizer.tell_failure(params)
        else:
            optimizer.tell(params, wave(rate, depth, kind, c))
    optimizer.ask()
    return optimizer
