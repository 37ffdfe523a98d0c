"""What `hetbo.integrations.optuna` offers, and what that loads."""

import subprocess
import sys

import pytest

import hetbo.optuna
from hetbo.integrations import optuna


def test_the_public_names_are_these() -> None:
    assert optuna.__all__ == [
        "EXPERIMENT",
        "MissingOptunaError",
        "Source",
        "TransferSampler",
        "as_trial",
        "check_finished",
        "check_holds_studies",
        "closing_database",
        "distribution_of",
        "experiments_in",
        "experiments_to_learn_from",
        "is_bare",
        "is_finished",
        "is_left",
        "read_study",
        "studies_at",
        "without_password",
        "write_study",
        "written_value",
    ]


def test_the_short_name_offers_what_users_need() -> None:
    assert hetbo.optuna.__all__ == ["MissingOptunaError", "Source", "TransferSampler"]
    assert hetbo.optuna.TransferSampler is optuna.TransferSampler


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match=r"'hetbo.integrations.optuna' has no .* 'nope'"):
        getattr(optuna, "nope")  # noqa: B009


def test_studies_are_written_and_read_without_loading_pytorch() -> None:
    code = """
import sys
import hetbo as hb
experiment = hb.Experiment("old", hb.Space(x=hb.Float(0, 1)), goal="minimize")
print(hb.Experiment.from_optuna(None, experiment.to_optuna(None)) == experiment)
print("torch" in sys.modules, "optuna" in sys.modules)
hb.optuna.TransferSampler
print("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  # our own code
    assert done.stdout.split() == ["True", "False", "True", "True"]
