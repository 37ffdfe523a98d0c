"""One thread while it is needed, and then as before, whoever else needs it at the same time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
from threadpoolctl import threadpool_limits

from helpers import blas_threads
from hetbo._threads import one_thread_for


def test_one_thread_within_the_block_and_the_old_number_after_it() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        torch_before = torch.get_num_threads()
        with one_thread_for(50):
            assert set(blas_threads()) == {1}
            with one_thread_for(50):
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
            assert torch.get_num_threads() == 1
        assert blas_threads() == before
        assert torch.get_num_threads() == torch_before


def test_an_error_restores_too() -> None:
    before = blas_threads()
    with pytest.raises(RuntimeError, match="inside"), one_thread_for(50):
        raise RuntimeError("inside")
    assert blas_threads() == before


def test_large_matrices_keep_their_threads() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_thread_for(5000):
            assert blas_threads() == before


def test_threads_that_overlap_restore_what_was_there_before_all_of_them() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        barrier = Barrier(4)

        def overlap(_: int) -> set[int]:
            with one_thread_for(10):
                barrier.wait()
                return set(blas_threads())

        with ThreadPoolExecutor(4) as pool:
            assert all(seen == {1} for seen in pool.map(overlap, range(4)))
        assert blas_threads() == before
