"""From named values to numbers for the models, and back."""

from hetbo.encoding._columns import Column, Columns
from hetbo.encoding._dataset import Dataset, EncodedSources, Rows, Scaling
from hetbo.encoding._encoder import Encoder
from hetbo.encoding._outcomes import OutcomeScale
from hetbo.spaces._axes import Axis, NumberAxis

__all__ = [
    "Axis",
    "Column",
    "Columns",
    "Dataset",
    "EncodedSources",
    "Encoder",
    "NumberAxis",
    "OutcomeScale",
    "Rows",
    "Scaling",
]
