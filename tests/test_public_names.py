import pkgutil

import pytest

import hetbo
import hetbo.integrations

SUBPACKAGES = [
    f"{parent.__name__}.{module.name}"
    for parent in (hetbo, hetbo.integrations)
    for module in pkgutil.iter_modules(parent.__path__)
    if module.ispkg
]


def test_the_public_names_are_these() -> None:
    assert hetbo.__all__ == [
        "Backtest",
        "Categorical",
        "DataError",
        "DataWarning",
        "Encoder",
        "Experiment",
        "FitError",
        "Float",
        "Goal",
        "HetboError",
        "HetboWarning",
        "Int",
        "JointSpace",
        "MergeError",
        "Optimizer",
        "OptimizerError",
        "SourceWarning",
        "Space",
        "SpaceError",
        "Suggestion",
        "Trial",
        "TrialState",
        "__version__",
        "backtest",
        "read_sources",
    ]


@pytest.mark.parametrize("name", hetbo.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(hetbo, name) is not None
    assert name in dir(hetbo)


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="'hetbo' has no attribute 'nope'"):
        getattr(hetbo, "nope")  # noqa: B009


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # other libraries, as they are loaded
@pytest.mark.parametrize("package", SUBPACKAGES)
def test_every_name_that_a_folder_offers_can_be_imported(package: str) -> None:
    module = __import__(package, fromlist=["*"])  # as a star does, which loads folders as well
    assert module.__all__
    assert len(set(module.__all__)) == len(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
