"""Digests of many sources: from the cache, or made now, side by side."""

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from hetbo._threads import one_thread_for
from hetbo.archive._cache import DigestCache
from hetbo.archive._digest import Digest, SourceRows

_LARGE = 100
"""The digest of a source with so many trials has a file of its own."""
_ENDS_A_PACK = "08"
"""A smaller source whose key's last digits are below this, one in 32, is the last one of a file."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Sources whose digests are kept in one file.

    Attributes:
        key: The hash of all that the digests depend on.
        sources: The positions of the sources.
    """

    key: str
    sources: tuple[int, ...]


def digested(
    sources: Sequence[SourceRows],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Digest]:
    """Return the digests of sources, which the user's cache keeps.

    NumPy lets other threads run while it computes, so that threads share the work; each uses one
    thread of the BLAS library.

    Args:
        sources: The sources' trials.
        progress: Called with the numbers of digests that are done and to be done.
    """
    kept = DigestCache.of_user()
    found: dict[int, Digest] = {}
    left: dict[int, Pack] = {}
    for pack in packs_of(sources):
        digests = kept.read(pack.key, [len(sources[index].groups) for index in pack.sources])
        if digests is None:
            left |= dict.fromkeys(pack.sources, pack)
        else:
            found |= dict(zip(pack.sources, digests, strict=True))
    if progress is not None:
        progress(len(found), len(sources))
    # Matrices are small, or there are as many threads already as there are processors.
    with one_thread_for(0), ThreadPoolExecutor(min(os.cpu_count() or 1, max(len(left), 1))) as pool:
        running = {pool.submit(Digest.of, sources[index]): index for index in left}
        for future in as_completed(running):
            index = running[future]
            found[index] = future.result()
            pack = left[index]
            if all(other in found for other in pack.sources):
                kept.write(pack.key, [found[other] for other in pack.sources])
            if progress is not None:
                progress(len(found), len(sources))
    return [found[index] for index in range(len(sources))]


def packs_of(sources: Sequence[SourceRows]) -> list[Pack]:
    """Return which sources share a file: a large one has its own, small ones share some.

    To write and to find a file takes as long as to digest a few small sources. Their keys decide
    where a file ends, so that a source which is new or has grown leaves all other files as they
    are.

    Args:
        sources: The sources' trials.

    Returns:
        The packs, those of large sources first, by size.
    """
    large = sorted(
        (index for index, rows in enumerate(sources) if len(rows.y) >= _LARGE),
        key=lambda index: -len(sources[index].y),
    )
    packs = [Pack(sources[index].key, (index,)) for index in large]
    keys = {index: rows.key for index, rows in enumerate(sources) if len(rows.y) < _LARGE}
    pending: list[int] = []
    for index in sorted(keys, key=keys.__getitem__):
        pending.append(index)
        if keys[index][-len(_ENDS_A_PACK) :] < _ENDS_A_PACK:
            packs.append(_pack(keys, pending))
            pending = []
    if pending:
        packs.append(_pack(keys, pending))
    return packs


def _pack(keys: dict[int, str], sources: Sequence[int]) -> Pack:
    text = " ".join(keys[index] for index in sources)
    return Pack(hashlib.blake2b(text.encode(), digest_size=20).hexdigest(), tuple(sources))
