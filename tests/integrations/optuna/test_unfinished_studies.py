"""`to_optuna` writes a study whole, or one that nobody takes for whole."""

import optuna
import pytest
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial

import hetbo as hb
from helpers import refused
from hetbo.optuna import TransferSampler

RUNS = hb.Experiment.from_records(
    [{"x": n / 10, "loss": float(n)} for n in range(5)], value="loss", goal="minimize", name="old"
)


class Disk(InMemoryStorage):
    """A storage with room for some trials."""

    def __init__(self, room: int, *, deletes: bool) -> None:
        super().__init__()
        self.room, self.deletes = room, deletes

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        if not self.room:
            raise OSError(28, "No space left on device")
        self.room -= 1
        return super().create_new_trial(study_id, template_trial)

    def delete_study(self, study_id: int) -> None:
        if not self.deletes:
            raise OSError(28, "No space left on device")
        super().delete_study(study_id)


def test_a_study_that_cannot_be_written_whole_is_deleted() -> None:
    disk = Disk(room=4, deletes=True)
    with pytest.raises(OSError, match="No space left"):
        RUNS.to_optuna(disk)
    assert optuna.get_all_study_names(disk) == []


@pytest.fixture
def disk() -> Disk:
    """A storage where a study was not written to the end, with room again."""
    disk = Disk(room=4, deletes=False)
    with pytest.raises(OSError, match="No space left"):
        RUNS.to_optuna(disk)
    assert len(optuna.load_study(study_name="old", storage=disk).trials) == 4
    disk.room, disk.deletes = 100, True
    return disk


def test_a_part_of_a_study_is_nothing_to_learn_from(disk: Disk) -> None:
    parts = ("'old'", "not written to the end", "to_optuna")
    with refused(hb.DataError, *parts):
        hb.Experiment.from_optuna(disk, "old")
    with refused(hb.DataError, *parts):
        hb.Experiment.from_optuna(None, optuna.load_study(study_name="old", storage=disk))
    with refused(hb.DataError, *parts):
        TransferSampler([(disk, "old")])


def test_the_next_attempt_starts_over(disk: Disk) -> None:
    with pytest.warns(hb.HetboWarning, match="'old' had not been written to the end"):
        RUNS.to_optuna(disk)
    assert hb.Experiment.from_optuna(disk, "old") == RUNS
    with refused(hb.DataError, "'old'", "already", "study_name="):
        RUNS.to_optuna(disk)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("", ("''", "not the URL")),
        ("old.db", ("'old.db'", "not the URL")),
        ("postgresql://me:secret@host:port/x", ("postgresql://***@host:port/x", "'port'")),
        ("nothing://x", ("'nothing://x'", "not the URL")),
        ("sqlite:////nowhere/old.db", ("/nowhere/old.db", "unable to open")),
        ("sqlite:///a\0b", ("a", "null byte")),
    ],
)
def test_a_url_that_is_none_is_refused_to_readers_and_writers(
    url: str, parts: tuple[str, ...]
) -> None:
    for use in (
        lambda: RUNS.to_optuna(url),
        lambda: hb.Experiment.from_optuna(url, "old"),
        lambda: TransferSampler([(url, "old")]),
    ):
        with refused(hb.DataError, parts[0]):
            use()
    with refused(hb.DataError, *parts):
        RUNS.to_optuna(url)
