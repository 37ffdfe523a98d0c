"""Digests of many sources: from the cache, or made now, side by side."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from hetbo._threads import one_thread_for
from hetbo.archive._cache import DigestCache
from hetbo.archive._digest import Digest, SourceRows

_FEWEST_KEPT = 100
"""A digest of fewer trials is made as quickly as it is read."""
_BATCH = 32
"""So many digests are made before they are written: a process that is killed loses no more."""


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
    keys: dict[int, str] = {}
    for index, rows in enumerate(sources):
        if len(rows.y) >= _FEWEST_KEPT:
            keys[index] = rows.key
            digest = kept.read(keys[index])
            if digest is not None:
                found[index] = digest
    left = sorted(set(range(len(sources))) - set(found), key=lambda i: -len(sources[i].y))
    if progress is not None:
        progress(len(found), len(sources))
    unwritten: dict[str, Digest] = {}
    # Matrices are small, or there are as many threads already as there are processors.
    with one_thread_for(0), ThreadPoolExecutor(min(os.cpu_count() or 1, max(len(left), 1))) as pool:
        running = {pool.submit(Digest.of, sources[index]): index for index in left}
        for future in as_completed(running):
            index = running[future]
            found[index] = future.result()
            if index in keys:
                unwritten[keys[index]] = found[index]
            if len(unwritten) >= _BATCH:
                kept.write(unwritten)
                unwritten = {}
            if progress is not None:
                progress(len(found), len(sources))
    kept.write(unwritten)
    return [found[index] for index in range(len(sources))]
