"""How each method's curve looks: the same in every figure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hetbo_bench.analysis.grouping import AUTO, in_order
from hetbo_bench.paper.against import PAPER_SETTINGS

# The palette of Okabe and Ito, which can be told apart with any kind of colour vision.
_BLACK, _ORANGE, _SKY, _GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
_BLUE, _VERMILION, _PURPLE, _GREY = "#0072B2", "#D55E00", "#CC79A7", "#8C8C8C"
_WINE, _INDIGO, _OLIVE = "#882255", "#332288", "#999933"

COLOURS: Mapping[str, str] = {
    AUTO: _BLACK,
    "learned-imputation": _VERMILION,
    "fixed-imputation": _SKY,
    "conditional": _GREEN,
    "common": _ORANGE,
    "vanilla": _BLUE,
    "random": _GREY,
    "optuna-tpe": _PURPLE,
    "optuna-gp": _WINE,
    "ax": _INDIGO,
    "baybe": _OLIVE,
}
"""The methods' colours; a method in the paper's settings has the colour of its namesake."""

SPARE_COLOURS = ("#661100", "#AA4499", "#6699CC", "#117733")
"""The colours of methods that are not in `COLOURS`, in the order of their names."""

PUBLISHED_DASHES = (0, (4, 2))
"""How published curves are dashed."""


@dataclass(frozen=True, slots=True)
class CurveStyle:
    """How a method's curve looks.

    Attributes:
        label: What the legend calls the method.
        colour: Its colour.
        width: The width of its line, in points.
        marker: What marks every fifth evaluation; empty for nothing.
        level: Curves of a higher level lie on top.
    """

    label: str
    colour: str
    width: float
    marker: str
    level: float


def base_method(method: str) -> str:
    """Return a method's name without the mark of the paper's settings."""
    return method.removesuffix(PAPER_SETTINGS)


def plain_name(method: str) -> str:
    """Return what a legend calls a method."""
    name = base_method(method).replace("-", " ")
    return f"{name}, paper's settings" if method.endswith(PAPER_SETTINGS) else name


def curve_styles(methods: Collection[str]) -> dict[str, CurveStyle]:
    """Return the styles of methods by name, in the order of a legend."""
    unknown = sorted({base_method(method) for method in methods} - set(COLOURS))
    spare = {name: SPARE_COLOURS[i % len(SPARE_COLOURS)] for i, name in enumerate(unknown)}
    colours = {**COLOURS, **spare}
    return {method: _style(method, colours[base_method(method)]) for method in in_order(methods)}


def _style(method: str, colour: str) -> CurveStyle:
    """Return a method's style.

    `auto` is thick and on top. What the paper has too, in its own settings, is plain, so that it
    can be held against the dashed curve of the same colour; everything else has marks.
    """
    if method == AUTO:
        return CurveStyle(plain_name(method), colour, 2.6, "", 4.0)
    plain = method.endswith(PAPER_SETTINGS) or method == "random"
    return CurveStyle(plain_name(method), colour, 1.4, "" if plain else "o", 3.0)
