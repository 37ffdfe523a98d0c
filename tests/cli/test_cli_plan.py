"""`hetbo diff` and `hetbo init`: what changed, and a study to tune."""

import json
import warnings
from pathlib import Path

import optuna
import pytest

from cli.tools import IMPORT, Cli
from hetbo import Categorical, Experiment, Float, Space
from hetbo.cli._target import Plan, target_at
from hetbo.joint._notes import notes_on

INIT = ("init", "space.toml", "--study", "new", "--source", "old")


def test_diff_says_what_changed_and_what_it_means(imported: Cli) -> None:
    cli = imported
    out = cli.works("diff", "--target", "space.toml", "--source", "old")
    assert "old → space" in out
    for word in ("re-ranged", "dropped", "subsample", "k1: learning_rate, max_depth"):
        assert word in out
    assert max(map(len, out.splitlines())) <= 80


def test_diff_says_if_nothing_is_shared(cli: Cli) -> None:
    cli.works("import", "runs.csv", "--study", "old", "--value", "loss", "--goal", "minimize")
    cli.write("space.toml", "goal = 'minimize'\n[parameters]\nz = { low = 0.0, high = 1.0 }\n")
    out = cli.works("diff", "--target", "space.toml", "--source", "old")
    assert "no parameter in common" in out
    assert out.count("ot used") == 1
    assert "learned" not in out
    cli.refuses(*INIT, parts=("'old'", "'lr', 'depth', 'subsample'", "space.toml", "--rename"))
    assert optuna.get_all_study_names("sqlite:///hetbo.db") == ["old"]


def test_names_that_differ_in_case_or_blanks_are_asked_about(cli: Cli) -> None:
    cli.works("import", "runs.csv", "--study", "old", "--value", "loss", "--goal", "minimize")
    cli.write(
        "space.toml",
        "goal = 'minimize'\n[parameters]\nLR = { low = 0.0, high = 1.0 }\n"
        "'Depth ' = { low = 1, high = 9 }\n",
    )
    asked = "Do you mean hetbo import --rename lr=LR 'depth=Depth '?"
    assert asked in cli.works("diff", "--target", "space.toml", "--source", "old")
    cli.refuses(*INIT, parts=(asked,))


def test_init_keeps_the_plan_with_the_study(imported: Cli) -> None:
    cli = imported
    cli.write("space.toml", Path("space.toml").read_text() + "[fixed]\nsubsample = 0.8\n")
    out = cli.works(*INIT, "--seed", "5", "--method", "vanilla", "--goal", "maximize")
    assert "'new': maximize loss; learns from 5 trials of 'old'" in out
    with target_at("hetbo.db", None) as target:
        assert target.name == "new"
        plan = target.plan
        kept = target.study.user_attrs["hetbo:target"]
    assert (plan.goal, plan.value, plan.method, plan.seed) == ("maximize", "loss", "vanilla", 5)
    assert plan.fixed == {"subsample": 0.8}
    assert plan.sources == ((None, "old"),)
    assert Plan.from_json("new", json.loads(json.dumps(kept))) == plan


def test_a_source_may_be_in_another_storage(cli: Cli) -> None:
    cli.works(*IMPORT, "--storage", "archive.db")
    cli.works(*INIT[:4], "--source", "archive.db::old", "--method", "random")
    assert "old" in cli.works("status")
    cli.works("diff", "--target", "space.toml", "--source", "archive.db::old", "--storage", "no.db")
    assert not Path("no.db").exists()
    Path("archive.db").unlink()
    cli.refuses("ask", parts=("archive.db", "there is no file"))
    assert "0 with a value" in cli("status").out


def test_a_tuned_study_can_be_a_source(ready: Cli) -> None:
    ready.works("ask")
    ready.refuses(
        *("init", "space.toml", "--study", "next", "--source", "new"), parts=("no complete trial",)
    )
    ready.works("tell", "0", "0.5")
    ready.works("init", "space.toml", "--study", "next", "--source", "new", "old")
    ready.refuses("ask", parts=("--study", "'new', 'next'"))
    ready.works("ask", "--study", "new")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["init", "nowhere.toml", "--study", "new"], ("nowhere.toml", "No such file")),
        (["init", "runs.csv", "--study", "new"], ("runs.csv", "not a TOML file")),
        (["init", "empty.toml", "--study", "new"], ("empty.toml", "[parameters]")),
        (["init", "no-goal.toml", "--study", "new"], ("no-goal.toml", "--goal")),
        (["init", "space.toml", "--study", ""], ("--study", "empty")),
        (["init", "space.toml", "--study", "new", "--source", "lost"], ("'lost'", "old")),
        (["init", "space.toml", "--study", "old"], ("'old'", "already")),
        ([*INIT, "--method", "magic"], ("--method 'magic'", "'auto'")),
        ([*INIT, "--seed", "-1"], ("--seed -1",)),
        ([*INIT[:4], "--source", "archive.db::old"], ("archive.db", "no file")),
        ([*INIT[:4], "--source", "postgresql://me:secret@host/db::old"], ("me:***@", ".pgpass")),
        (
            ["init", "number.toml", "--study", "new", "--source", "old"],
            ("'booster'", "hetbo import --rename booster=NEW", "hetbo import --drop booster"),
        ),
        (
            ["init", "fixed.toml", "--study", "new", "--source", "old"],
            ("[fixed] names 'unheard_of'",),
        ),
        (["diff", "--target", "number.toml", "--source", "old"], ("--rename booster=NEW",)),
        (["diff", "--target", "nowhere.toml", "--source", "old"], ("nowhere.toml",)),
        (["diff", "--target", "space.toml", "--source", "lost"], ("'lost'",)),
        (["ask"], ("no study to tune", "hetbo init")),
        (["ask", "--study", "old"], ("'old'", "hetbo init")),
        (["ask", "--study", "lost"], ("'lost'", "there are: 'old'")),
        (["ask", "--storage", "lost.db"], ("'lost.db'", "--storage")),
        (["ask", "--storage", "lost.log"], ("'lost.log'", "--storage")),
    ],
    ids=lambda value: " ".join(value)[:70],
)
def test_bad_input_is_refused_and_changes_nothing(
    imported: Cli, arguments: list[str], parts: tuple[str, ...]
) -> None:
    cli = imported
    cli.write("empty.toml", "goal = 'minimize'\n[parameters]\n")
    cli.write("no-goal.toml", "[parameters]\nlearning_rate = { low = 0.0, high = 1.0 }\n")
    number = "goal = 'minimize'\n[parameters]\nbooster = { low = 0.0, high = 1.0 }\n"
    cli.write("number.toml", number)
    cli.write("fixed.toml", Path("space.toml").read_text() + "[fixed]\nunheard_of = 1\n")
    before = cli.files(), Path("hetbo.db").read_bytes()
    error = cli.refuses(*arguments, parts=parts)
    assert "secret" not in error
    assert (cli.files(), Path("hetbo.db").read_bytes()) == before


def test_a_fixed_value_that_the_source_never_tried_is_noted(imported: Cli) -> None:
    space = Path("space.toml").read_text()
    note = "Note: subsample is fixed at 7, outside of what 'old' tried (0.6 … 1)."
    diff = ("diff", "--target", "space.toml", "--source", "old")
    imported.write("space.toml", f"{space}[fixed]\nsubsample = 0.6\n")
    assert "Note:" not in imported.works(*diff)
    imported.write("space.toml", f"{space}[fixed]\nsubsample = 7\n")
    assert note in imported.works(*diff)
    assert note in imported.works(*INIT, "--method", "random")


def test_a_choice_that_the_source_never_tried_is_noted() -> None:
    source = Experiment("old", Space(x=Float(0, 1), kind=Categorical("a", "b")), goal="minimize")
    assert notes_on(source.space, None, {"kind": "b"}, [source]) == []
    assert notes_on(source.space, None, {"kind": "c"}, [source]) == [
        "kind is fixed at 'c', outside of what 'old' tried ('a' | 'b')."
    ]


def test_opposite_goals_are_noted_and_shown(imported: Cli) -> None:
    space = Path("space.toml").read_text()
    note = (
        "Note: The goal of 'old' was to minimize, that of the target is to maximize: "
        "what was good there counts as good here."
    )
    diff = ("diff", "--target", "space.toml", "--source", "old")
    assert "Note:" not in imported.works(*diff)
    imported.write("space.toml", space.replace("minimize", "maximize"))
    assert note in imported.works(*diff)
    assert note in imported.works(*INIT, "--method", "random")
    rows = [line.split() for line in imported.works("status").splitlines()]
    assert ["old", "minimize", "5", "0.33"] in rows


def test_a_source_that_is_gone_is_called_a_source(ready: Cli) -> None:
    optuna.delete_study(study_name="old", storage="sqlite:///hetbo.db")
    told = ("a source of 'new' cannot be used", "no study called 'old'", "there are: 'new'")
    for command in ("status", "ask"):
        ran = ready(command)
        assert ran.code == 1
        assert all(part in ran.err for part in told), ran.err


def test_a_space_may_be_called_like_its_source(imported: Cli) -> None:
    Path("space.toml").rename("old.toml")
    out = imported.works("diff", "--target", "old.toml", "--source", "old")
    assert "old → old.toml" in out


def test_a_failed_init_makes_no_storage(cli: Cli) -> None:
    before = cli.files()
    cli.refuses(*INIT, parts=("there is no file 'hetbo.db'",))
    assert cli.files() == before


def test_the_variable_names_the_storage(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETBO_STORAGE", "elsewhere.log")
    cli.works(*IMPORT)
    cli.works(*INIT, "--method", "random")
    cli.works("ask", "-n", "2")
    assert "elsewhere.log" in cli.files()
    assert "hetbo.db" not in cli.files()


def test_a_damaged_plan_is_told(ready: Cli) -> None:
    study = optuna.load_study(study_name="new", storage="sqlite:///hetbo.db")
    kept = study.user_attrs["hetbo:target"]
    for damage in ({"version": 99}, {"version": 1, "space": 3}, {**kept, "goal": 3}):
        study.set_user_attr("hetbo:target", damage)
        ready.refuses("ask", parts=("'new'", "hetbo:target"))


def test_optuna_keeps_quiet_and_its_settings_stay(cli: Cli) -> None:
    optuna.logging.set_verbosity(optuna.logging.INFO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ran = cli(*IMPORT)
    assert ran.err == ""
    assert optuna.logging.get_verbosity() == optuna.logging.INFO
