"""The cache of digests: whole files or none, bounded, and never in the way."""

import logging
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from archive_data import random_rows
from hetbo.archive import DigestCache
from hetbo.archive._digest import Digest
from hetbo.archive._digestion import digested

KEY = "a" * 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's cache, which is not there yet."""
    monkeypatch.setenv("HETBO_CACHE", str(tmp_path))
    return tmp_path / "digests"


def assert_same(first: Digest | None, second: Digest) -> None:
    assert first is not None
    for name, array in second.arrays().items():
        assert_array_equal(first.arrays()[name], array)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    cache, digest = DigestCache(tmp_path / "new" / "folder"), Digest.of(random_rows(10))
    assert cache.read(KEY) is None
    cache.write({KEY: digest})
    assert_same(cache.read(KEY), digest)
    assert cache.read("b" * 40) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no such thing", None, "pickle"])
def test_a_damaged_or_foreign_entry_is_made_again(
    folder: Path, content: bytes | str | None, caplog: pytest.LogCaptureFixture
) -> None:
    rows = random_rows(120)
    path = folder / f"{rows.key}.npz"
    digested([rows])
    whole = path.read_bytes()
    if content == "pickle":
        np.savez(path, points=np.array([{}], dtype=object))
    else:
        path.write_bytes(
            whole[: len(whole) // 2] if content is None else bytes(str(content), "ascii")
        )
    with caplog.at_level(logging.INFO):
        (found,) = digested([rows])
    assert "is made again" in caplog.text
    assert path.read_bytes() == whole
    assert_same(found, Digest.of(rows))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_an_entry_of_which_any_bit_was_flipped_is_made_again(
    tmp_path: Path, where: float, bit: int
) -> None:
    rows = random_rows(110)
    cache = DigestCache(tmp_path)
    cache.write({rows.key: Digest.of(rows)})
    path = tmp_path / f"{rows.key}.npz"
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1 << bit
    path.write_bytes(content)
    found = cache.read(rows.key)
    if found is not None:  # the bit is not among those that count, a date for instance
        assert_same(found, Digest.of(rows))


@pytest.mark.usefixtures("folder")
def test_digests_that_are_kept_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [random_rows(110, seed=s) for s in range(3)]
    first = digested(sources)
    monkeypatch.setattr(Digest, "of", lambda _: pytest.fail("digested again"))
    for one, other in zip(digested(sources), first, strict=True):
        assert_same(one, other)


def test_progress_and_order(folder: Path) -> None:
    sources = [random_rows(count, seed=count) for count in (20, 130, 5, 60)]
    told: list[tuple[int, int]] = []
    found = digested(sources, progress=lambda *counts: told.append(counts))
    assert told == [(done, 4) for done in range(5)]
    for rows, digest in zip(sources, found, strict=True):
        assert_same(digest, Digest.of(rows))
    # Small ones are made as quickly as they are read.
    assert [path.stem for path in folder.glob("*.npz")] == [sources[1].key]


def test_the_folder_stays_within_bounds(tmp_path: Path) -> None:
    digest = Digest.of(random_rows(10))
    DigestCache(tmp_path).write({KEY: digest})
    size = (tmp_path / f"{KEY}.npz").stat().st_size
    cache = DigestCache(tmp_path, most_bytes=3 * size)
    cache.write({"b" * 40: digest, "c" * 40: digest})
    for second, name in enumerate("bac"):
        os.utime(tmp_path / f"{name * 40}.npz", (second, second))
    assert cache.read("b" * 40) is not None  # now it is the last one that was used
    cache.write({"d" * 40: digest})
    assert {path.stem[0] for path in tmp_path.glob("*.npz")} == {"b", "c", "d"}


def test_a_folder_that_cannot_be_written_costs_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("HETBO_CACHE", str(blocked))
    rows = random_rows(110)
    (found,) = digested([rows])
    assert_same(found, Digest.of(rows))
    assert "not kept" in caplog.text


@pytest.mark.parametrize("value", ["off", "OFF", "0", "no"])
def test_the_cache_can_be_switched_off(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETBO_CACHE", value)
    cache = DigestCache.of_user()
    assert cache.folder is None
    cache.write({KEY: Digest.of(random_rows(10))})
    assert cache.read(KEY) is None


def test_the_cache_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETBO_CACHE", str(tmp_path))
    assert DigestCache.of_user().folder == tmp_path / "digests"
    monkeypatch.delenv("HETBO_CACHE")
    folder = DigestCache.of_user().folder
    assert folder is not None
    assert "hetbo" in folder.parts


def _digest_all() -> None:
    digested([random_rows(110, seed=s) for s in range(4)])


def test_several_processes_share_a_folder(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_digest_all) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(list(folder.iterdir())) == 4
    for seed in range(4):
        rows = random_rows(110, seed=seed)
        assert_same(DigestCache(folder).read(rows.key), Digest.of(rows))
