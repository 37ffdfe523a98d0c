"""The sources as one joint space sees them: computed once, whatever the target's trials."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np

from hetbo._arrays import FloatArray, IndexArray
from hetbo.acquisition._candidates import spread
from hetbo.archive._digestion import digested
from hetbo.archive._library import Library, place_and_rows
from hetbo.archive._likeness import likeness_of
from hetbo.archive._model import Own
from hetbo.archive._relevance import Hypotheses, correlation_densities
from hetbo.encoding import Dataset
from hetbo.models import squared_exponential

_COVER = 512
_REMEMBERED = 4
_MOST_JUDGED = 60
"""Sources are judged by so many trials of the target."""
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Archive:
    """The digested sources of a joint space.

    Attributes:
        library: Their posteriors.
        positions: Shape `M`: the position of each in the joint space, from 1.
        cover: Shape `k × d`: points that cover the target's space.
        functions: Shape `k × M`: the sources' functions there, each with mean 0.
        centres: Shape `M`: the means that were taken off.
        hypotheses: What the target may go along with.
        own: What the target tunes.
    """

    library: Library
    positions: IndexArray
    cover: FloatArray
    functions: FloatArray
    centres: FloatArray
    hypotheses: Hypotheses
    own: Own

    @classmethod
    def of(cls, data: Dataset, *, progress: Callable[[int, int], None] | None = None) -> "Archive":
        """Digest the sources, or take their digests from the cache, and lay them side by side.

        Args:
            data: The trials, each experiment's values on a scale of its own. Those of at least one
                source.
            progress: Called with the numbers of digests that are done and to be done.
        """
        positions = [int(m) for m in np.unique(data.experiment) if m > 0]
        placed = [place_and_rows(data, m) for m in positions]
        digests = digested([rows for _, rows in placed], progress=progress)
        library = Library.of(digests, [place for place, _ in placed], missing=data.missing[0])
        cover = spread(data.encoder, _COVER, np.random.default_rng(0))
        functions = library.functions(library.covariances(cover))
        centres = functions.mean(axis=0)
        functions = functions - centres
        encoder = data.encoder
        groups = [
            np.array(encoder.columns.of(name), dtype=np.intp) for name in encoder.joint.target.space
        ]
        own = Own(
            np.concatenate(groups),
            np.repeat(np.arange(len(groups)), [len(group) for group in groups]),
            np.array([library.length_scales[group[0]] for group in groups]),
        )
        likeness = likeness_of(library, data, cover, functions)
        hypotheses = Hypotheses.of(functions, likeness)
        return cls(
            library,
            np.array(positions, dtype=np.intp),
            cover,
            functions,
            centres,
            hypotheses,
            own,
        )

    def combined(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return what the target's trials say of the sources: `π`, shape `M`.

        Args:
            X: Shape `n × d`: the trials.
            y: Shape `n`: their values, scaled.
        """
        return self.hypotheses.combined(*self._judged(X, y))

    def correlation_densities(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return how likely trials make each correlation of the target with each source.

        Args:
            X: Shape `n × d`: the trials.
            y: Shape `n`: their values, scaled.

        Returns:
            One row for each of `CORRELATIONS`, one column for each source; columns add up to 1.
        """
        F, R, scaled = self._judged(X, y)
        return correlation_densities(F / np.maximum(self.functions.std(axis=0), _TINY), R, scaled)

    def _judged(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of the trials that judge sources: functions, own correlations, values."""
        judged = best_and_latest(y, _MOST_JUDGED)
        at = X[judged]
        functions = self.library.functions(self.library.covariances(at)) - self.centres
        inverse = self.own.inverse(self.own.typical, X.shape[1])
        return functions, squared_exponential(at * inverse, at * inverse), y[judged]


def best_and_latest(y: FloatArray, most: int) -> IndexArray:
    """Return the positions of the best and of the latest trials, half of each, in their order."""
    count = len(y)
    if count <= most:
        return np.arange(count)
    early = count - most // 2
    best = np.argsort(-y[:early], kind="stable")[: most - most // 2]
    return np.sort(np.concatenate([best, np.arange(early, count)]))


class _Recent:
    """The last few archives: the sources stay the same from one `ask` to the next."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: OrderedDict[tuple[int, bytes], tuple[object, Archive]] = OrderedDict()

    def of(self, data: Dataset, *, progress: Callable[[int, int], None] | None = None) -> Archive:
        # The encoder is kept with the archive, so that no other one can have its identity.
        key = id(data.encoder), _content_of_sources(data)
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key][1]
        made = Archive.of(data, progress=progress)
        with self._lock:
            self._found[key] = data.encoder, made
            while len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return made


def _content_of_sources(data: Dataset) -> bytes:
    content = hashlib.blake2b(digest_size=16)
    old = data.experiment > 0
    for array in (data.X, data.y, data.noise, data.experiment):
        content.update(array[old].tobytes())
    return content.digest()


_recent = _Recent()


def archive_of(data: Dataset, *, progress: Callable[[int, int], None] | None = None) -> Archive:
    """Return the archive of a data set's sources, computed once for all of a target's trials."""
    return _recent.of(data, progress=progress)
