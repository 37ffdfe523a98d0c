"""How busy several workers are kept on one study, whether they repeat each other, and how well.

usage: script/bench throughput [--workers 8] [--trials 200] [--seconds 2] [--seeds 1]
                               [--how tune sampler one batches] [--storage URL]

Hartmann's function in six variables, with 30 old trials in four of them; a trial sleeps. `tune` is
`hetbo tune --workers 8`, `sampler` is eight processes with a `TransferSampler` each, `one` is one
worker, and `batches` waits until all of eight trials have ended before it chooses the next eight;
the last two sleep no longer than the sampler needs. Busy is the share of the workers' time, from
the first trial's begin to the last one's end, that they spend in trials. Regrets are means over the
seeds. The storage is a PostgreSQL server of our own, unless one is named.
"""

import argparse
import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import optuna
from optuna.study import MaxTrialsCallback
from optuna.trial import Trial as OptunaTrial
from optuna.trial import TrialState

import hetbo as hb
from hetbo.optuna import TransferSampler
from hetbo.test_functions import HARTMANN_OPTIMUM, hartmann

NAMES = tuple(f"x{number}" for number in range(1, 7))
HELD = {"x5": 0.0, "x6": 0.0}
OLD_TRIALS = 30
SHOWN = (20, 40, 80, 200)
SPACE = hb.Space(**{name: hb.Float(0.0, 1.0) for name in NAMES})
LOG = "HETBO_THROUGHPUT_LOG"
SECONDS = "HETBO_THROUGHPUT_SECONDS"


def loss(**params: float) -> float:
    """Return the function's value after a while, and write down when that was."""
    began = time.time()
    time.sleep(float(os.environ[SECONDS]))
    with Path(os.environ[LOG]).open("a") as log:
        log.write(f"{began} {time.time()}\n")
    return hartmann(np.array([params[name] for name in NAMES]))


def old_experiment(seed: int) -> hb.Experiment:
    rng = np.random.default_rng([seed, 30])
    trials = []
    for _ in range(OLD_TRIALS):
        params = {name: float(rng.uniform()) for name in NAMES[:4]}
        trials.append(hb.Trial(params, hartmann(np.array([*params.values(), *HELD.values()]))))
    return hb.Experiment("old", SPACE.drop("x5", "x6"), trials, goal="maximize")


def with_tune(url: str, seed: int, workers: int, trials: int, folder: Path) -> None:
    rows = "".join(f"{name} = {{ low = 0.0, high = 1.0 }}\n" for name in NAMES)
    (folder / "space.toml").write_text(f'goal = "maximize"\n[parameters]\n{rows}')
    command = [sys.executable, "-m", "hetbo"]
    init = ["init", "space.toml", "--study", "new", "--source", "old", "--seed", str(seed)]
    tune = ["tune", f"{__spec__.name}:loss", "--trials", str(trials), "--workers", str(workers)]
    for arguments in (init, tune):
        subprocess.run(  # noqa: S603  # our own program
            [*command, *arguments, "--storage", url],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if arguments is init else (folder / "tune.txt").open("w"),
        )


def with_samplers(url: str, seed: int, workers: int, trials: int, folder: Path) -> None:
    optuna.create_study(storage=url, study_name="new", direction="maximize")
    each = [sys.executable, "-m", __spec__.name, "--worker", url, str(seed), str(trials)]
    processes = [
        subprocess.Popen(  # noqa: S603  # our own program
            each, stdout=subprocess.DEVNULL, stderr=(folder / f"{n}.txt").open("w")
        )
        for n in range(workers)
    ]
    for process in processes:
        if process.wait():
            raise SystemExit(f"a worker failed: {(folder / '0.txt').read_text()[-2000:]}")


def take_part(url: str, seed: int, trials: int) -> None:
    """Work on the study until it has enough trials."""
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in NAMES}
    sampler = TransferSampler([(url, "old")], space=space, seed=seed)
    study = optuna.load_study(study_name="new", storage=url, sampler=sampler)

    def objective(trial: OptunaTrial) -> float:
        return loss(**{name: trial.suggest_float(name, 0.0, 1.0) for name in NAMES})

    states = (TrialState.COMPLETE, TrialState.RUNNING)
    study.optimize(objective, callbacks=[MaxTrialsCallback(trials, states=states)])


def alone(seed: int, trials: int, batch: int) -> list[float]:
    """Return the values of one worker, or of batches that are waited for."""
    optimizer = hb.Optimizer(SPACE, sources=[old_experiment(seed)], goal="maximize", seed=seed)
    values = list[float]()
    while len(values) < trials:
        for suggestion in optimizer.ask(batch):
            values.append(hartmann(np.array([suggestion.params[name] for name in NAMES])))
            optimizer.tell(suggestion, values[-1])
    return values[:trials]


RUNS: dict[str, Callable[[str, int, int, int, Path], None]] = {
    "tune": with_tune,
    "sampler": with_samplers,
}


def measured(
    how: str, url: str, *, seed: int, workers: int, trials: int, seconds: float
) -> tuple[float, int, list[float]]:
    """Return the busy share, the number of repeated trials, and the values in order."""
    if how in {"one", "batches"}:
        return float("nan"), 0, alone(seed, trials, 1 if how == "one" else workers)
    for name in optuna.get_all_study_names(url):
        optuna.delete_study(study_name=name, storage=url)
    old_experiment(seed).to_optuna(url, study_name="old")
    with tempfile.TemporaryDirectory(prefix="hetbo-throughput-") as place:
        folder = Path(place)
        os.environ |= {LOG: str(folder / "log"), SECONDS: str(seconds)}
        RUNS[how](url, seed, workers, trials, folder)
        spans = np.array([line.split() for line in (folder / "log").open()], dtype=float)
    busy = (spans[:, 1] - spans[:, 0]).sum() / workers / (spans[:, 1].max() - spans[:, 0].min())
    study = optuna.load_study(study_name="new", storage=url)
    done = study.get_trials(states=(TrialState.COMPLETE,))
    points = {tuple(trial.params[name] for name in NAMES) for trial in done}
    ended = {trial.number: trial.datetime_complete for trial in done if trial.datetime_complete}
    done.sort(key=lambda trial: ended[trial.number])
    values = [trial.value for trial in done if trial.value is not None]
    return float(busy), len(done) - len(points), values


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """Run a server for as long as the block takes; yield its URL."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb")
    programs = Path(found).parent if found else installed[-1] if installed else None
    if programs is None:
        raise SystemExit("PostgreSQL is not installed; install it, or name a --storage")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    user = "postgres" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
    with tempfile.TemporaryDirectory(prefix="hetbo-postgresql-") as folder:
        if user is not None:
            shutil.chown(folder, user)

        def run(program: str, *options: str) -> None:
            subprocess.run(  # noqa: S603  # our own server
                [str(programs / program), "-D", f"{folder}/data", *options],
                check=True,
                user=user,
                cwd=folder,
                stdout=subprocess.DEVNULL,
            )

        run("initdb", "-A", "trust", "-U", "postgres", "--no-sync")
        settings = f"-h 127.0.0.1 -p {port} -k {folder}"
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", settings, "start")
        try:
            yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-w", "-m", "fast", "stop")


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        url, seed, trials = sys.argv[2:]
        take_part(url, int(seed), int(trials))
        return
    parser = argparse.ArgumentParser(description="How busy several workers are kept.")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a trial takes")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--how", nargs="+", default=["tune", "sampler", "one", "batches"])
    parser.add_argument("--storage", help="the URL of a database for studies 'old' and 'new'")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    shown = [count for count in SHOWN if count <= given.trials]
    print(f"{'':<10}{'busy':>7}{'repeated':>10}" + "".join(f"{f'at {n}':>9}" for n in shown))
    with contextlib.ExitStack() as stack:
        url = given.storage or stack.enter_context(postgresql())
        for how in given.how:
            found = [
                measured(
                    how,
                    url,
                    seed=seed,
                    workers=given.workers,
                    trials=given.trials,
                    seconds=given.seconds,
                )
                for seed in range(given.seeds)
            ]
            busy = statistics.fmean(busy for busy, _, _ in found)
            repeated = sum(repeated for _, repeated, _ in found)
            regrets = [
                statistics.fmean(HARTMANN_OPTIMUM - max(values[:n]) for _, _, values in found)
                for n in shown
            ]
            row = f"{how:<10}{'' if np.isnan(busy) else f'{busy:.0%}':>7}{repeated:>10}"
            print(row + "".join(f"{regret:9.4f}" for regret in regrets), flush=True)


if __name__ == "__main__":
    main()
