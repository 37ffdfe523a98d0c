"""A short part of the soak, always the same; and that the soak counts what it finds."""

import random
import re
from pathlib import Path

import pytest

from soak.__main__ import main
from soak.attacks import ATTACKS
from soak.faults import FaultError
from soak.syscalls import Save, killed_at, killed_before, may_trace

SEEDS = {
    "histories": [1, 2, 3],
    "tables": [*range(200)],
    "inputs": [0],
    "races": [0],
    "syscalls": [8, 24, 28],
    "kills": [7],
    "disks": [0, 3],
    "servers": [4],
}


@pytest.mark.long
@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_is_lost_stuck_or_wrong(name: str, tmp_path: Path) -> None:
    for seed in SEEDS[name]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        ATTACKS[name](random.Random(f"{name} {seed}"), folder)


def test_processes_are_killed_where_it_was_said(tmp_path: Path) -> None:
    attack = Save(tmp_path)
    before = (tmp_path / "state.json").read_bytes()
    if may_trace():
        assert killed_before(attack.start(), "write", 1).killed
        assert not killed_before(attack.start(), "write", 99).killed
        (tmp_path / "state.json").write_bytes(before)
    assert killed_at(attack.start(), 1).killed
    assert (tmp_path / "state.json").read_bytes() == before
    assert not killed_at(attack.start(), 999).killed
    assert (tmp_path / "state.json").read_bytes() != before


def test_without_strace_calls_are_killed_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soak.syscalls.may_trace", lambda: False)
    ATTACKS["syscalls"](random.Random("syscalls 28"), tmp_path)


def quiet(rng: random.Random, folder: Path) -> None:
    """Find nothing."""
    (folder / "something").write_text(str(rng.random()))


def loses(rng: random.Random, folder: Path) -> None:
    """Lose something in every second run."""
    del folder
    if rng.random() < 0.5:
        raise FaultError("lost", "[bold]half[/bold]")


def breaks(rng: random.Random, folder: Path) -> None:
    """Break in a way that nobody thought of."""
    raise ZeroDivisionError(f"{rng} {folder}")


def skips(rng: random.Random, folder: Path) -> None:
    """Need something that is not there."""
    del rng, folder
    pytest.skip("no disk")


def counts(out: str) -> dict[str, list[str]]:
    """Return the rows of the table in the end."""
    table = out[out.index(" attack ") :].splitlines()[1:]
    return {line.split()[0]: line.split()[1:] for line in table}


def test_each_attack_runs_at_least_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["0", "--seed", "3"], {"quiet": quiet, "skips": skips}) == 0
    out = capsys.readouterr().out
    assert counts(out) == {
        "quiet": ["1", "0", "0", "0"],
        "skips": ["0", "0", "0", "0", "no", "disk"],
    }


def test_what_is_found_is_counted_and_can_be_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    attacks = {"quiet": quiet, "loses": loses, "breaks": breaks}
    assert main(["0.01", "--seed", "3"], attacks) == 1
    out = capsys.readouterr().out
    assert "lost: [bold]half[/bold]" in out
    assert "ZeroDivisionError: " in out
    found = counts(out)
    runs, lost = map(int, found["loses"][:2])
    assert 0 < lost < runs
    assert found["breaks"][0] == found["breaks"][3]
    assert found["quiet"][1:] == ["0", "0", "0"]
    again = re.findall(r"again: script/soak (0 loses --seed \d+) ", out)
    assert len(again) == lost
    for command in again[:5]:
        assert main(command.split(), attacks) == 1
    assert main(["0", "quiet"], attacks) == 0


def test_unknown_attacks_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["1", "nothing"])
    assert "unknown attack 'nothing'; expected one of histories, " in capsys.readouterr().err
