"""How the next trial is chosen: the models of a method, how far each is trusted, and why."""

from hetbo.methods._engine import Chosen, Engine
from hetbo.methods._explanation import (
    Explanation,
    correlation_of,
    explain_fitted,
    explain_unfitted,
    transferring,
    trust_in_sources,
)
from hetbo.methods._fitted import Fitted, WarmStarts
from hetbo.methods._recipes import METHODS, EnsembleMember, Recipe, Sizes, recipe_of
from hetbo.methods._summary import MOST_SOURCES, most_trusted, summed_up, verdict

__all__ = [
    "METHODS",
    "MOST_SOURCES",
    "Chosen",
    "Engine",
    "EnsembleMember",
    "Explanation",
    "Fitted",
    "Recipe",
    "Sizes",
    "WarmStarts",
    "correlation_of",
    "explain_fitted",
    "explain_unfitted",
    "most_trusted",
    "recipe_of",
    "summed_up",
    "transferring",
    "trust_in_sources",
    "verdict",
]
