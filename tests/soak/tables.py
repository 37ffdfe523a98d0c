"""CSV files with cells of all sorts: refused, or read as a plain reading of the text says."""

import csv
import io
import math
import random
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from hetbo import Experiment, HetboError, HetboWarning
from hetbo.spaces import Value
from soak.faults import FaultError, expect

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_GAPS = {"", "nan", "none", "null", "na", "n/a"}
_BESIDE = ["", "NaN", "None", "n/a", "inf", "-inf", "1e999", "0,5", "1_000", "1 000", "20 %", "٣"]
_BESIDE += ["true", "TRUE", "sqrt", "Sqrt", " sqrt", '"', "a;b", "two\nlines", "\0", "\x1b[2J"]
_BESIDE += ["9" * 400, "9" * 5000, "9007199254740993", "-0", "1e-320", "0x10", "=1+1", "2024-01-01"]


def run(rng: random.Random, folder: Path) -> None:
    """Read a random table; compare it, cell by cell, with an independent reading."""
    header = rng.sample(["lr", "depth", "kind", "x y", "größe", "Loss "], rng.randint(1, 4))
    columns = [*header, "value"]
    draws = [_column(rng) for _ in columns[:-1]] + [_outcomes(rng)]
    dirt = rng.choice([0.0, 0.0, 0.02, 0.1])
    rows = [
        [rng.choice(_BESIDE) if rng.random() < dirt else draw() for draw in draws]
        for _ in range(rng.randint(1, 30))
    ]
    delimiter = rng.choice([",", ",", ";", "\t"])
    path = folder / "table.csv"
    content = _text(rng, [columns, *rows], delimiter)
    whole = rng.random() < 0.95
    path.write_bytes(content if whole else content[: rng.randrange(len(content))])
    skip = rng.random() < 0.3
    categorical = rng.choice([[], [], [columns[0].strip()]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", HetboWarning)
        try:
            read = Experiment.from_csv(
                path,
                value="value",
                goal="minimize",
                on_invalid="skip" if skip else "raise",
                categorical=categorical,
                delimiter=rng.choice([delimiter, delimiter, None]),
            )
        except HetboError as error:
            line = str(error)
            expect("\n" not in line and len(line) < 1000, "wrong", f"a long message: {line!r}")
            return
    if not whole:
        return  # what stands where it was cut off may be another number
    names = [name.strip() for name in columns]
    kept = _matched(read, names, rows, skip=skip, choices=categorical)
    expect(skip or kept == len(rows), "lost", f"{kept} of {len(rows)} rows were read")


def _matched(
    read: Experiment,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    skip: bool,
    choices: Sequence[str],
) -> int:
    """Check that each trial is a row, in order; return how many there are."""
    left = iter(rows)
    for number, trial in enumerate(read.trials):
        for row in left:
            cells = dict(zip(columns, row, strict=True))
            params = {**read.fixed, **trial.params}
            wrong = [
                f"{name}: {cells[name]!r} became {value!r}"
                for name, value in params.items()
                if not _means(cells[name], value)
                and not (name in choices and _is_endless(cells[name], value))
            ]
            if not _measures(cells["value"], trial.value):
                wrong.append(f"value: {cells['value']!r} became {trial.value!r}")
            if not wrong:
                break
            expect(skip, "wrong", f"row {number + 1}: {'; '.join(wrong)}")
        else:
            raise FaultError("wrong", f"no row is trial {number}: {trial}")
    return len(read.trials)


def _measures(cell: str, value: float | None) -> bool:
    text = cell.strip()
    if value is None:
        huge = _PLAIN.fullmatch(text) is not None and math.isinf(float(text))
        return text.lower() in _GAPS or huge or _INFINITE.fullmatch(text) is not None
    return _PLAIN.fullmatch(text) is not None and float(text) == value


def _is_endless(cell: str, value: Value) -> bool:
    """Return whether a choice is the text of a number that no float can hold."""
    text = cell.strip()
    return value == text and _PLAIN.fullmatch(text) is not None and math.isinf(float(text))


def _means(cell: str, value: Value) -> bool:
    text = cell.strip()
    plain = len(text) <= 400 and _PLAIN.fullmatch(text) is not None
    match value:
        case None:
            return text.lower() in _GAPS
        case bool():
            return text.lower() == str(value).lower()
        case int():
            whole = _WHOLE.fullmatch(text) is not None
            return plain and (int(text) if whole else float(text)) == value
        case float():
            return plain and float(text) == value
        case str():
            return (
                not plain
                and " ".join(text.split()).casefold() == " ".join(value.split()).casefold()
            )


def _column(rng: random.Random) -> Callable[[], str]:
    size = 10.0 ** rng.uniform(-310, 307)
    return rng.choice(
        [
            lambda: repr(rng.uniform(0, 1)),
            lambda: repr(rng.uniform(-1, 1) * size),
            lambda: f"{rng.uniform(-1, 1) * size:.3E}",
            lambda: str(rng.randint(-9, 9)),
            lambda: str(rng.choice([2**53 - 1, 2**53, -(2**53), 2**53 + 1, 2**63, 10**30])),
            lambda: rng.choice(["relu", "Relu", "tanh", " tanh "]),
            lambda: rng.choice(["true", "False", "TRUE"]),
            lambda: rng.choice(["1", "01", "1.0", "+1", ".5", "5."]),
            lambda: rng.choice(["0,5", "1,5", "7"]),
            lambda: rng.choice(["none", "None", "1"]),
            lambda: "7",
        ]
    )


def _outcomes(rng: random.Random) -> Callable[[], str]:
    size = 10.0 ** rng.uniform(-310, 307)
    return rng.choice(
        [
            lambda: repr(rng.gauss(0, 1)),
            lambda: repr(rng.uniform(-1, 1) * size),
            lambda: rng.choice(["1.7976931348623157e308", "-1.7976931348623157e308", "5e-324"]),
            lambda: rng.choice(["0.5", "", "nan", "inf", "1e400"]),
        ]
    )


def _text(rng: random.Random, rows: Sequence[Sequence[str]], delimiter: str) -> bytes:
    stream = io.StringIO()
    ends = rng.choice(["\n", "\r\n"])
    dialect = rng.choice(["excel", "unix"])  # the second one quotes all cells
    csv.writer(stream, dialect, delimiter=delimiter, lineterminator=ends).writerows(rows)
    return stream.getvalue().encode(rng.choice(["utf-8", "utf-8", "utf-8-sig"]))
