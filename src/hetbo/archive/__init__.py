"""Many old trials, and many of one's own: models whose cost grows linearly with their number."""

from hetbo.archive._cache import DigestCache
from hetbo.archive._many_trials import ManyTrials
from hetbo.archive._surrogate import ArchiveSurrogate, FittedArchive
from hetbo.archive._thinned import Thinned

__all__ = ["ArchiveSurrogate", "DigestCache", "FittedArchive", "ManyTrials", "Thinned"]
