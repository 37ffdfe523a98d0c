"""What other tools change globally stays within a call."""

import logging
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def contained(*entropy: int) -> Iterator[None]:
    """Run the block with global generators that depend on `entropy` alone, and without chatter.

    Warnings and log messages below the level of a warning are dropped. All that was there before
    is restored: the states of the global generators, the warning filters, what is logged, and
    PyTorch's default type.

    Args:
        entropy: What the global generators are seeded with, none of it negative.
    """
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002  # theirs, not ours
    dtype, disabled = torch.get_default_dtype(), logging.root.manager.disable
    (seed,) = np.random.SeedSequence(entropy).generate_state(1).tolist()
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")
        logging.disable(max(disabled, logging.INFO))
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(legacy)  # noqa: NPY002
            torch.set_default_dtype(dtype)
            logging.disable(disabled)
