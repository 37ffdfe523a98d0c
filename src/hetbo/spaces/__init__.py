"""What is tuned: parameters and the spaces they form."""

from hetbo.spaces.parameters import Categorical, Float, Int, Numeric, Parameter, Value
from hetbo.spaces.space import Space

__all__ = ["Categorical", "Float", "Int", "Numeric", "Parameter", "Space", "Value"]
