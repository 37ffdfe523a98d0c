"""What `auto` makes of sources beforehand: dropped as noise, or their tails compressed.

usage: script/bench dropped_sources [REPLICATIONS] PROBLEM ...

Counts replications, and sources in all of them. Problems have names as in `hetbo bench list`.
"""

import sys
import warnings

from hetbo.errors import HetboWarning
from hetbo.joint import JointSpace
from hetbo.methods import Engine
from hetbo_bench.problems.named import problem_named


def count(name: str, replications: int) -> None:
    problem = problem_named(name)
    sources = dropped = with_noise = compressed = 0
    for replication in range(replications):
        start = problem.start(replication)
        joint = JointSpace.merge(problem.space, start.sources)
        engine = Engine.of("auto", joint, problem.goal)
        sources += len(start.sources)
        dropped += len(engine.dropped_sources)
        with_noise += bool(engine.dropped_sources)
        compressed += engine.compresses_tail
    print(
        f"{name}: {dropped} of {sources} sources dropped as noise, in {with_noise} of "
        f"{replications} replications; tail compressed in {compressed}",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    numbers = [int(argument) for argument in arguments if argument.isdigit()]
    warnings.simplefilter("ignore", HetboWarning)
    for name in arguments:
        if not name.isdigit():
            count(name, numbers[0] if numbers else 50)


if __name__ == "__main__":
    main(sys.argv[1:])
