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
OFFERED = {
    "hetbo.acquisition": """
        Acquisition Feasibility Improvement MemberAcquisition PooledLogEI feasibility_of
        log_expected_improvement maximize
    """,
    "hetbo.archive": """
        ArchiveSurrogate DigestCache FittedArchive ManyTrials Thinned
    """,
    "hetbo.backtesting": """
        Backtest Case SourceEffect backtest
    """,
    "hetbo.cli": """
        interrupts_held main one_thread_for read_json say say_command worker_pool
        write_text_atomically
    """,
    "hetbo.encoding": """
        Axis Column Columns Dataset EncodedSources Encoder NumberAxis OutcomeScale Rows
        Scaling
    """,
    "hetbo.experiments": """
        IMPORTERS Experiment FileOptions Found Goal GoalName Importer Style Table
        TableOptions Trial TrialState
    """,
    "hetbo.integrations": """
        optuna
    """,
    "hetbo.joint": """
        Block Change ChangeKind JointSpace Member SpaceTree find_blocks
    """,
    "hetbo.methods": """
        METHODS MOST_SOURCES Chosen Engine EnsembleMember Explanation Fitted Recipe Sizes
        WarmStarts correlation_of explain_fitted explain_unfitted most_trusted recipe_of
        summed_up transferring trust_in_sources verdict
    """,
    "hetbo.models": """
        CORRELATIONS DEFAULT ONE_SCALE SETTINGS BlockKernel BlocksOnTrials CommonGP
        ConditionalGP Correlation CorrelationDensity FitParameter FitReport FittedDefaults
        FittedGP FittedSurrogate GPSurrogate Imputation ImputedGP LearnedChoice
        LearnedNumber LearnedValue LeaveOneOut LogNormal LogPosterior MarginalLikelihood
        Moments NotPositiveDefinite ParameterVector Posterior Predictor Preparing
        ResidualKernel Search Settings Slots SourceUse SquaredExponential StationaryKernel
        Surrogate TargetGP TransferGP TransferKernel fit inverse_of learned_values maximize
        pooled_correlation squared_exponential squared_exponential_slope
    """,
    "hetbo.plot": """
        Chart Drawing NothingToShowError Panel Run backtest_cases backtest_sources chart
        correlations effects missing_values parallel_coordinates predictions progress trust
    """,
    "hetbo.report": """
        report_html write_backtest_report write_report
    """,
    "hetbo.spaces": """
        Categorical Float Int Numeric Parameter Space Value
    """,
    "hetbo.integrations.optuna": """
        EXPERIMENT MissingOptunaError Source TransferSampler as_trial check_finished
        check_holds_studies closing_database distribution_of experiments_in
        experiments_to_learn_from is_bare is_finished is_left read_study studies_at
        without_password write_study written_value
    """,
}
"""The public names of every folder: what is added or goes is changed here on purpose."""


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


def test_every_folder_is_pinned() -> None:
    assert sorted(OFFERED) == sorted(SUBPACKAGES)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # other libraries, as they are loaded
@pytest.mark.parametrize("package", SUBPACKAGES)
def test_a_folder_offers_these_names(package: str) -> None:
    assert sorted(__import__(package, fromlist=["*"]).__all__) == sorted(OFFERED[package].split())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # other libraries, as they are loaded
@pytest.mark.parametrize("package", SUBPACKAGES)
def test_every_name_that_a_folder_offers_can_be_imported(package: str) -> None:
    module = __import__(package, fromlist=["*"])  # as a star does, which loads folders as well
    assert module.__all__
    assert len(set(module.__all__)) == len(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
