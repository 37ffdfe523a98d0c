"""A database that restarts again and again while `hetbo tune` runs."""

import random
import time
from pathlib import Path

from postgresql_server import postgresql
from soak.children import check_manners, command
from soak.studies import check_nothing_left, check_outcomes, study_in, trials_in

TRIALS = 16


def run(rng: random.Random, folder: Path) -> None:
    """Restart the server at random moments; in the end everything is stored, once."""
    with postgresql() as server:
        named = study_in(folder, server.url)
        words = ("tune", "objective:loss", "--trials", str(TRIALS), "--workers", "3", *named)
        tune = command(folder, *words, environment={"SOAK_SECONDS": "1"})
        tune.go()
        for _ in range(rng.randint(1, 4)):
            time.sleep(rng.uniform(0.2, 3.0))
            server.stop()
            time.sleep(rng.choice([0.0, rng.uniform(0.0, 3.0)]))
            server.start()
        check_manners(tune.finish())
        check_outcomes(folder, trials_in(server.url), TRIALS, may_fail=0)
        check_nothing_left(folder)
