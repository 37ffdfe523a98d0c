"""Optimizers with histories that nobody would wish for, though all values are finite."""

import math
import random
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from hetbo import (
    Categorical,
    Experiment,
    FitError,
    Float,
    HetboError,
    HetboWarning,
    Int,
    Optimizer,
    Space,
    Trial,
    TrialState,
)
from hetbo.methods import METHODS
from hetbo.spaces import Parameter, Value
from soak.faults import FaultError, expect

NAMES = ("x", "lr", "größe", "学习率", "a b", "class", "[bold]x[/bold]", "<script>", 'say "hi" \\n')
TEXTS = ("", " ", "gbtree", "Gbtree", "None", "nan", "0.5", "1e999", "=1+1", "é", "e\u0301", "🦆")
LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324


def run(rng: random.Random, folder: Path) -> None:
    """Ask, tell, explain, save and load: no error that has no meaning, no warning of others."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", HetboWarning)
        try:
            optimizer = _made(rng)
            _go_on(rng, optimizer)
            _check_restart(rng, optimizer, folder / "state.json")
        except FitError as error:
            raise FaultError("stuck", f"a finite history cannot be fitted: {error}") from error
        except HetboError as error:
            line = str(error)
            expect("\n" not in line and len(line) < 1000, "wrong", f"a long message: {line!r}")


def _made(rng: random.Random) -> Optimizer:
    names = rng.sample(NAMES, rng.randint(1, 5))
    space = _space(rng, names[: rng.randint(1, len(names))])
    sources = [
        _source(rng, f"source {n}", names, space) for n in range(rng.choice([0, 1, 1, 2, 3]))
    ]
    return Optimizer(
        space,
        sources=sources,
        goal=rng.choice(["minimize", "maximize"]),
        method=rng.choice(["auto", "auto", *METHODS]),
        seed=rng.randrange(2**32),
        n_initial=rng.choice([None, 0, 1, 7]),
        candidates=rng.choice(
            [None, None, [_params(rng, space) for _ in range(rng.randint(1, 9))]]
        ),
    )


def _go_on(rng: random.Random, optimizer: Optimizer) -> None:
    value = _values(rng)
    for _ in range(rng.randint(0, 12)):
        own = _params(rng, optimizer.space)
        if rng.random() < 0.2:
            optimizer.tell_failure(own)
        else:
            optimizer.tell(own, value(), noise=_noise(rng))
    for _ in range(rng.randint(1, 2)):
        for suggestion in optimizer.ask(rng.choice([1, 1, 3])):
            _check_fits(suggestion.params, optimizer.space)
            if rng.random() < 0.2:
                optimizer.tell_failure(suggestion)
            elif rng.random() < 0.8:
                optimizer.tell(suggestion, value(), noise=_noise(rng))
    told = [trial.value for trial in optimizer.trials if trial.value is not None]
    if told:
        best = optimizer.best
        expect(best is not None and best.value in {min(told), max(told)}, "wrong", f"best: {best}")
    sentence = optimizer.explain().sentence
    expect("nan" not in sentence.split(), "wrong", f"it explains: {sentence}")


def _check_restart(rng: random.Random, optimizer: Optimizer, path: Path) -> None:
    optimizer.save(path)
    loaded = Optimizer.load(path)
    expect(loaded.to_json() == optimizer.to_json(), "lost", "what was saved is not what is loaded")
    count = rng.choice([1, 2])
    one, other = optimizer.ask(count), loaded.ask(count)
    expect(one == other, "wrong", f"after loading it goes on with {other}, not with {one}")


def _check_fits(params: Mapping[str, Value], space: Space) -> None:
    expect(list(params) == list(space), "wrong", f"{params} has not the names of {space}")
    for name, parameter in space.items():
        value = params[name]
        match parameter:
            case Float(low, high):
                fits = type(value) is float and low <= value <= high
            case Int(low, high):
                fits = type(value) is int and low <= value <= high
            case Categorical():
                fits = any(type(c) is type(value) and c == value for c in parameter.choices)
        expect(fits, "wrong", f"{name}={value!r} does not fit {parameter}")


def _source(rng: random.Random, name: str, names: list[str], target: Space) -> Experiment:
    tuned = rng.sample(names, rng.randint(1, len(names)))
    own = _space(rng, tuned)
    # A name is a number everywhere or a category everywhere; ranges are free.
    space = Space.from_mapping(
        {
            n: target[n]
            if n in target and isinstance(target[n], Categorical) != isinstance(p, Categorical)
            else p
            for n, p in own.items()
        }
    )
    value, trials = _values(rng), list[Trial]()
    for _ in range(rng.randint(0, 15)):
        params = _params(rng, space)
        if rng.random() < 0.15:
            trials.append(Trial(params, state=TrialState.FAILED))
        else:
            trials.append(Trial(params, value(), noise=_noise(rng)))
    return Experiment(name, space, trials, goal=rng.choice(["minimize", "maximize"]))


def _values(rng: random.Random) -> Callable[[], float]:
    """Return what draws the values of one experiment."""
    scale, centre = 10.0 ** rng.uniform(-300, 300), rng.uniform(-1e9, 1e9)
    few = [rng.uniform(-LARGEST, LARGEST) for _ in range(3)]
    return rng.choice(
        [
            lambda: rng.gauss(0.0, 1.0),
            lambda: rng.gauss(0.0, 1.0) * scale,
            lambda: rng.choice([-1, 1]) * 10.0 ** rng.uniform(-307, 308),
            lambda: rng.choice([-LARGEST, LARGEST]),
            lambda: rng.choice([-LARGEST, LARGEST, 0.0, -0.0, SMALLEST, -SMALLEST, 1.0]),
            lambda: SMALLEST * rng.randint(-9, 9),
            lambda: centre,
            lambda: centre + rng.gauss(0.0, 1e-7),
            lambda: math.nextafter(centre, rng.choice([-math.inf, math.inf])),
            lambda: rng.choice(few),
        ]
    )


def _noise(rng: random.Random) -> float | None:
    small, large = 10.0 ** rng.uniform(-300, 0), 10.0 ** rng.uniform(0, 300)
    noises: list[float | None] = [None, None, None, None, 0.0, SMALLEST, small, large, LARGEST]
    return rng.choice(noises)


def _space(rng: random.Random, names: list[str]) -> Space:
    return Space.from_mapping({name: _parameter(rng, name) for name in names})


def _parameter(rng: random.Random, name: str) -> Parameter:
    kinds = [_float, _int, _float, _int, _categorical]
    # So that experiments agree more often than not.
    return kinds[NAMES.index(name) % len(kinds)](rng)


def _float(rng: random.Random) -> Parameter:
    if rng.random() < 0.5:
        low = 10.0 ** rng.uniform(-150, 149)
        return Float(low, low * 10.0 ** rng.uniform(0.01, 1), log=rng.random() < 0.5)
    width = 10.0 ** rng.uniform(-6, 6)
    low = rng.uniform(-5, 5) * width
    return Float(low, low + width)


def _int(rng: random.Random) -> Parameter:
    low = rng.choice([0, 1, 2, -(2**50), 10**6])
    high = low + rng.choice([1, 2, 9, 1000, 2**50])
    return Int(low, high, log=low > 0 and rng.random() < 0.5)


def _categorical(rng: random.Random) -> Parameter:
    every: list[Value] = [*TEXTS, None, True, False, 0, 1, 2.5, -1e300, 2**40]
    return Categorical(*rng.sample(every, rng.randint(1, 6)))


def _params(rng: random.Random, space: Space) -> dict[str, Value]:
    return {name: _value(rng, parameter) for name, parameter in space.items()}


def _value(rng: random.Random, parameter: Parameter) -> Value:
    match parameter:
        case Float(low, high):
            return rng.choice([low, high, min(max(rng.uniform(low, high), low), high)])
        case Int(low, high):
            return rng.choice([low, high, rng.randint(low, high)])
        case Categorical():
            return rng.choice(parameter.choices)
        case _:
            raise TypeError(f"no value for {parameter!r}")
