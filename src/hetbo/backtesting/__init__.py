"""Would old runs have helped? Each old experiment is replayed as if it were today's."""

from hetbo.backtesting._backtest import backtest
from hetbo.backtesting._result import Backtest, Case, SourceEffect

__all__ = ["Backtest", "Case", "SourceEffect", "backtest"]
