"""What `auto` makes of sources beforehand: left out as noise, or bad values brought nearer.

usage: script/bench sources_heard [REPLICATIONS] PROBLEM ...

Counts replications, and sources in all of them. Problems have names as in `hetbo bench list`.
"""

import sys
import warnings

from hetbo.bench.problems.named import problem_named
from hetbo.engine import Engine
from hetbo.errors import HetboWarning
from hetbo.joint import JointSpace
from hetbo.methods import METHODS


def heard(name: str, replications: int) -> None:
    problem = problem_named(name)
    sources = left_out = with_noise = softened = 0
    for replication in range(replications):
        start = problem.start(replication)
        joint = JointSpace.merge(problem.space, start.sources)
        engine = Engine(METHODS["auto"], joint, problem.goal, n_initial=5)
        sources += len(start.sources)
        left_out += len(engine.left_out)
        with_noise += bool(engine.left_out)
        softened += engine.softens
    print(
        f"{name}: {left_out} of {sources} sources left out as noise, in {with_noise} of "
        f"{replications} replications; bad values brought nearer in {softened}",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    numbers = [int(argument) for argument in arguments if argument.isdigit()]
    warnings.simplefilter("ignore", HetboWarning)
    for name in arguments:
        if not name.isdigit():
            heard(name, numbers[0] if numbers else 50)


if __name__ == "__main__":
    main(sys.argv[1:])
