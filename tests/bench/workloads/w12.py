"""W12, a training graph of 10,000 operations as a .pb brings them, with gradient descent."""

from __future__ import annotations

from typing import Any

from tests.bench.program import Program

RATES = {"check": 1e-13, "time": 1e-25}  # 1,666 layers make large gradients
OPERATIONS = 10_000


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.ops.build.builder import GraphBuilder
    from tests.bench.ours import training
    from tests.bench.training_graph import FEED, LOSS, drawn

    document = drawn(OPERATIONS)
    build = GraphBuilder(document.graph)
    start = {name: value.array for name, value in document.initial.items()}
    descent = ("GradientDescent", {"learning_rate": rate})
    return training(build, build.get(f"{LOSS}:0"), start, {"x": FEED}, descent, **how)
