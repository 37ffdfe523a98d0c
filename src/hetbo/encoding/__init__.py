"""From named values to numbers for the models, and back."""

from hetbo.encoding.columns import Column, Columns
from hetbo.encoding.dataset import Dataset, Scaling
from hetbo.encoding.encoder import Encoder
from hetbo.encoding.outcomes import OutcomeScale

__all__ = ["Column", "Columns", "Dataset", "Encoder", "OutcomeScale", "Scaling"]
