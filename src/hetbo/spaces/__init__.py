"""What is tuned: parameters and the spaces they form."""

from hetbo.spaces._categorical import Categorical
from hetbo.spaces._numbers import Float, Int, Numeric
from hetbo.spaces._parameter import Parameter
from hetbo.spaces._space import Space
from hetbo.spaces._values import Value

__all__ = ["Categorical", "Float", "Int", "Numeric", "Parameter", "Space", "Value"]
