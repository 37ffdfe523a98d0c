"""`hetbo import`: what a CSV file says, and what is refused without a trace."""

import sqlite3
from pathlib import Path

import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from cli.tools import IMPORT, Cli
from hetbo import Experiment, Float, Int, Space

STORAGE = "sqlite:///hetbo.db"
SIMPLE = ("import", "runs.csv", "--study", "old", "--value", "loss", "--goal", "minimize")


def test_runs_become_a_study_and_the_space_is_shown(cli: Cli) -> None:
    out = cli.works(*IMPORT)
    assert "'old': 6 trials, 1 of them failed; minimize, best 0.33; stored in hetbo.db." in out
    assert "learning_rate = { low = 0.0005, high = 0.05 }" in out
    assert "max_depth = { low = 3, high = 8 }" in out
    assert 'booster = "gbtree"' in out
    read = Experiment.from_optuna(STORAGE, "old")
    assert read.space == Space(
        learning_rate=Float(0.0005, 0.05), max_depth=Int(3, 8), subsample=Float(0.6, 1.0)
    )
    assert read.fixed == {"booster": "gbtree"}
    assert len(read.complete) == 5


def test_a_value_far_worse_than_all_others_is_noted(cli: Cli) -> None:
    rows = "".join(f"0.{n},{n / 10}\n" for n in range(1, 9))
    cli.write("runs.csv", f"lr,loss\n{rows}0.9,999\n")
    out = " ".join(cli.works(*SIMPLE).split())
    assert "1 value of 'old' (999) is far worse than all others and counts as" in out
    assert "leave the cell empty" in out


def test_options_have_their_effect(cli: Cli) -> None:
    cli.write("semi.csv", "id;lr;value;sd\na;0.1;1;0.1\nb;0.2;2;0.2\nc;0.3;oops;0\n")
    cli.write("old.toml", "[parameters]\nlr = { low = 0.0, high = 1.0 }\n[fixed]\ndepth = 3\n")
    ran = cli(
        *("import", "semi.csv", "--goal", "maximize", "--drop", "id", "--noise", "sd"),
        *("--space", "old.toml", "--skip-invalid", "--fixed", "flag=true", "--fixed", "n=5"),
        *("--storage", "other.log"),
    )
    assert ran.code == 0
    assert "hetbo: note: semi.csv: 1 of 3 rows do not fit" in ran.err
    assert "'semi': 2 trials" in ran.out
    storage = JournalStorage(JournalFileBackend("other.log"))
    read = Experiment.from_optuna(storage, "semi")
    assert read.fixed == {"depth": 3, "flag": True, "n": 5}
    assert read.space == Space(lr=Float(0.0, 1.0))
    assert [trial.noise for trial in read.trials] == [0.1, 0.2]
    assert read.goal == "maximize"


def printed_space(out: str) -> str:
    """Return the TOML that `hetbo import` printed."""
    return out[out.index("goal = ") : out.index("Write space.toml")]


def test_the_printed_space_can_be_tuned_as_it_is(cli: Cli) -> None:
    cli.write("space.toml", printed_space(cli.works(*IMPORT)))
    out = cli.works("init", "space.toml", "--study", "new", "--source", "old", "--method", "random")
    assert "'new': minimize loss; learns from 5 trials of 'old'" in out
    assert 'booster = "gbtree"' in out
    cli.works("diff", "--target", "space.toml", "--source", "old")
    cli.works("ask", "-n", "2")
    cli.works("tell", "0", "0.5")
    cli.works("init", "space.toml", "--study", "next", "--source", "new", "--method", "random")
    assert Experiment.from_optuna(STORAGE, "next").fixed == {"booster": "gbtree"}
    cli.works("init", "space.toml", "--study", "alone", "--method", "random")


def test_a_space_with_odd_names_and_long_lists_can_be_tuned_as_it_is(cli: Cli) -> None:
    texts = [f"a choice that is {'long ' * 4}{number}" for number in range(30)]
    rows = [f'"{text}",{number % 7},{number * 1e22},1' for number, text in enumerate(texts * 2)]
    cli.write("runs.csv", "\n".join(['"x "" # \'=é",k.n,big,loss', *rows]))
    out = cli.works(*SIMPLE, "--fixed", "gone=none", "--fixed", "on=true")
    cli.write("space.toml", printed_space(out))
    made = cli.works(
        "init", "space.toml", "--study", "new", "--source", "old", "--method", "random"
    )
    assert "{ none = true }" in made
    old, new = (Experiment.from_optuna(STORAGE, name) for name in ("old", "new"))
    assert (new.space, new.fixed, new.goal) == (old.space, old.fixed, old.goal)
    assert new.fixed == {"gone": None, "on": True}


def test_decimal_commas_and_choices_can_be_named(cli: Cli) -> None:
    cli.write("runs.csv", "x;size;loss\n1,5;64;0,5\n2,5;128;0,7\n")
    out = cli.works(*SIMPLE, "--decimal", ",", "--categorical", "size")
    assert "x = { low = 1.5, high = 2.5 }" in out
    assert "size = { choices = [64, 128] }" in out
    assert "best 0.5" in out


def test_notes_speak_of_the_options(cli: Cli) -> None:
    cli.write("runs.csv", "x,run time,run_id,kind,loss\n1,2.5,5,a,1\n2,3.5,7,A,2\n")
    ran = cli(*SIMPLE)
    assert ran.code == 0
    assert "hetbo: note: " in ran.err
    assert "--drop 'run time' run_id leaves out what was not tuned" in ran.err
    assert "'A' as 'a'" in ran.err
    assert "drop=" not in ran.err


def test_a_choice_in_another_spelling_is_noted_once(imported: Cli) -> None:
    space = Path("space.toml").read_text(encoding="utf-8").replace('"gbtree"', '"GBTree"')
    imported.write("space.toml", space)
    for arguments in (
        ["diff", "--target", "space.toml", "--source", "old"],
        ["init", "space.toml", "--study", "new", "--source", "old", "--method", "random"],
    ):
        ran = imported(*arguments)
        assert ran.code == 0
        assert ran.err.count("'gbtree' of 'booster' in 'old'") == 1


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["import", "nowhere.csv"], ("nowhere.csv", "No such file")),
        (["import", ".", "--study", "x"], ("cannot read '.'", "it is a folder")),
        (["import", "."], ("cannot read '.'", "it is a folder")),
        (["import", "runs.csv", "--goal", "minimize"], ("--value", "lr, depth, subsample, loss")),
        (["import", "runs.csv", "--value", "loss"], ("--goal",)),
        (["import", "runs.csv", "--value", "los", "--goal", "minimize"], ("'los'", "(--value)")),
        ([*SIMPLE, "--rename", "lr"], ("--rename", "OLD=NEW")),
        ([*SIMPLE, "--fixed", "lr"], ("--fixed", "NAME=VALUE")),
        ([*SIMPLE, "--rename", "lr=a", "lr=b"], ("--rename", "duplicate name 'lr'")),
        ([*SIMPLE, "--rename", "lrr=a"], ("'lrr'", "(--rename)")),
        ([*SIMPLE, "--rename", "lr=depth"], ("two columns", "'depth'")),
        ([*SIMPLE, "--drop", "nope"], ("'nope'", "(--drop)")),
        ([*SIMPLE, "--drop", "lr", "depth", "subsample"], ("--space",)),
        ([*SIMPLE, "--fixed", "lr=3"], ("'lr'",)),
        ([*SIMPLE, "--noise", "nope"], ("'nope'", "(--noise)")),
        ([*SIMPLE, "--fixed", "booster=0,5"], ("--fixed booster=0,5", "write numbers plainly")),
        ([*SIMPLE, "--fixed", "booster=1_000"], ("--fixed booster=1_000", "write numbers plainly")),
        ([*SIMPLE, "--categorical", "nope"], ("'nope'", "(--categorical)")),
        ([*SIMPLE, "--decimal", "x"], ("--decimal 'x'",)),
        ([*SIMPLE, "--encoding", "nope"], ("--encoding", "'nope'")),
        ([*SIMPLE, "--delimiter", "ab"], ("--delimiter", "'ab'")),
        ([*SIMPLE, "--space", "nowhere.toml"], ("nowhere.toml",)),
        (["import", "runs.csv", "--study", "x" * 501], ("--study", "500")),
        (["import", "runs.csv", "--study", "a\nb"], ("--study", "printed")),
        (["import", "runs.csv", "--study", " "], ("--study", "empty")),
        ([*SIMPLE, "--storage", "no/where.db"], ("folder", "'no'")),
        ([*SIMPLE, "--storage", "."], ("folder",)),
        ([*SIMPLE, "--storage", "what://x"], ("what", "driver")),
        ([*SIMPLE, "--storage", "://"], ("'://'", "URL")),
    ],
    ids=lambda value: " ".join(value)[:60],
)
def test_bad_input_is_refused_and_leaves_nothing(
    cli: Cli, arguments: list[str], parts: tuple[str, ...]
) -> None:
    before = cli.files()
    cli.refuses(*arguments, parts=parts)
    assert cli.files() == before


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("empty",)),
        ("lr,loss\n", ("no row",)),
        ("lr,loss\n1,x\n2,3\n", ("row 1 (line 2)", "'loss'", "'x'", "--skip-invalid")),
        ("lr,loss\n1,2,3\n2,3\n", ("row 1", "3 cells")),
        ("lr,loss\n1,\n2,\n", ("no row has a value",)),
        (f"lr,loss\n{'x' * 1_000_000},1\nb,2\n", ("field larger",)),
        (f"lr,loss\n{'x' * 1000},1\nb,2\n", ("500 characters",)),
        (f"{'x' * 1000},loss\n1,1\n2,2\n", ("500 characters",)),
        ('"a\x1b[31mb",loss\n1,1\n2,2\n', ("control character", "--rename")),
        ('"a\u202eb",loss\n1,1\n2,2\n', ("cannot be printed",)),
        ("x;y;loss\n1,5;1;1\n2;2;2\n", ("'x'", "'1,5'", "--decimal ','", "--categorical x")),
        ("x;loss\n1;1,5\n2;2\n", ("'loss'", "'1,5'", "--decimal ','")),
        ("a b,loss\n1,1\nx,2\n2,3\n", ("--categorical 'a b'", "--skip-invalid")),
        ("x,loss\n1,1\n1000000000000000000,2\n", ("'x'", "--drop x", "--categorical x")),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_file_that_is_no_table_of_runs_is_refused(
    cli: Cli, text: str, parts: tuple[str, ...]
) -> None:
    cli.write("runs.csv", text)
    before = cli.files()
    cli.refuses(*SIMPLE, parts=parts)
    assert cli.files() == before


def test_a_study_of_that_name_stays_as_it_is(imported: Cli) -> None:
    cli = imported
    before = Path("hetbo.db").read_bytes()
    cli.refuses(*IMPORT, parts=("'old'", "already", "--study"))
    assert Path("hetbo.db").read_bytes() == before


def test_a_file_that_is_no_storage_is_refused_and_stays(cli: Cli) -> None:
    path = cli.write("notes.db", "not a database, but long enough to be one" * 50)
    cli.refuses(*SIMPLE, "--storage", "notes.db", parts=("notes.db", "not a database"))
    journal = cli.write("notes.log", "not a journal\n")
    cli.refuses(*SIMPLE, "--storage", "notes.log", parts=("notes.log", "journal"))
    with sqlite3.connect("places.db") as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = Path("places.db").read_bytes()
    cli.refuses(*SIMPLE, "--storage", "places.db", parts=("places.db", "something else"))
    assert Path("places.db").read_bytes() == before
    assert path.read_text(encoding="utf-8").startswith("not a database")
    assert journal.read_text(encoding="utf-8") == "not a journal\n"


def test_a_locked_storage_is_told(imported: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = imported
    monkeypatch.setattr("hetbo.cli._storages._SECONDS_TO_WAIT", 0.1)
    holder = sqlite3.connect("hetbo.db")
    try:
        holder.execute("BEGIN EXCLUSIVE")
        for command in (["import", "runs.csv", "--value", "loss", "--goal", "minimize"], ["ask"]):
            cli.refuses(*command, parts=("hetbo.db", "locked", "another process"))
    finally:
        holder.close()
    cli.works("diff", "--target", "space.toml", "--source", "old")


def test_nothing_that_a_user_named_is_markup(cli: Cli) -> None:
    names = '<script>alert(1)</script>,[bold]x[/bold],"=1+1","he said ""hi""",größe☃'
    rows = ["1,[red]a,=cmd|x,1,0.5", "2,[/red],@sum,2,0.6", "3,[link=x]b,+1+1,3,0.7"]
    cli.write("runs.csv", "\n".join([names, *rows]))
    study = "<script>[red]'\"; drop table ünï"
    out = cli.works(
        *("import", "runs.csv", "--study", study, "--value", "größe☃", "--goal", "minimize")
    )
    assert "<script>[red]" in out
    assert '"[bold]x[/bold]" = { choices = ["[red]a", "[/red]", "[link=x]b"] }' in out
    assert '"=1+1" = { choices = ["=cmd|x", "@sum", "+1+1"] }' in out
    cli.write("space.toml", printed_space(out))
    cli.works("init", "space.toml", "--study", "[b]new", "--source", study, "--method", "random")
    for command in (["diff", "--target", "space.toml", "--source", study], ["status"], ["ask"]):
        assert "[b" in cli.works(*command)
    lines = cli.works("ask", "--csv").splitlines()
    assert lines[0] == 'id,<script>alert(1)</script>,[bold]x[/bold],\'=1+1,"he said ""hi"""'
    assert lines[1].split(",")[3][:2] in {"'=", "'@", "'+"}


class Terminal:
    """A standard input that says it is a terminal."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return f"{self._answers.pop(0)}\n" if self._answers else ""


def test_a_terminal_is_asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("what?", "loss", "minimize"))
    out = cli.works("import", "runs.csv", "--study", "old")
    assert "Unknown answer 'what?'; expected one of 'lr', 'depth'" in out
    assert "6 trials" in out
    monkeypatch.setattr("sys.stdin", Terminal())
    assert "no answer" in cli("import", "runs.csv", "--study", "two").err
