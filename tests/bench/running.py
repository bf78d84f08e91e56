"""What a run costs by the ways in which users make one, beside the plan alone; and loops.

    python -m tests.bench.running ROUNDS SECONDS

prints one JSON object: what targets.RUNNING names -> the ratio in each round. The ways of one
workload take turns in one process.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.cli.command_line import main
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.main import Gradstep
from tests.bench.debugging import timed
from tests.bench.interleaving import Timer, interleave
from tests.bench.ours import handed_over
from tests.bench.workloads import w1, w2, w3

WORKLOADS = {"w1": w1, "w2": w2, "w3": w3}
ITERATIONS, SIZE = 1000, 8  # of a loop, and of the vector that it carries round

_random = np.random.default_rng(4)
X, W, B = (_random.uniform(-1, 1, SIZE).astype(np.float32) for _ in range(3))


def ways(name: str, folder: Path) -> dict[str, Timer]:
    """The plan of a workload alone, and all the ways to run it."""
    build, rate = WORKLOADS[name].ours, WORKLOADS[name].RATES["time"]
    plan, feeds, initial = handed_over(build, rate)
    session = Session(plan.graph, initial=initial, fast=True)
    fetches, targets = [*plan.fetches], plan.targets
    path = folder / f"{name}.gradstep"
    asked = ["--fetch", *(ref.short for ref in fetches), *targets]
    document = Document(
        graph=plan.graph,
        feeds={str(ref): Constant(array) for ref, array in feeds.items()},
        initial={name: Constant(array) for name, array in initial.items()},
    )
    gradstep_file.save(path, document)
    found = {
        "plan": timed(build(rate, mode="fast").step),
        "fed": timed(lambda: session.run(fetches, feeds, targets)),
        "callable": timed(session.make_callable(fetches, feeds, targets)),
    }
    if targets:  # of the others opening the document takes longer than many runs
        found["train"] = command("train", str(path), *asked, count="--steps")
        found["command"] = command("run", str(path), "--fast", *asked, count="--runs")
    return found


def command(*arguments: str, count: str) -> Timer:
    """The CPU seconds of so many steps more of a command, results written out included."""

    def seconds(steps: int) -> float:
        start = time.process_time()
        with redirect_stdout(io.StringIO()):
            status = main([*arguments, count, str(steps), "--json"], Gradstep())
        assert status == 0
        return time.process_time() - start

    seconds(1)
    first = min(seconds(1) for _ in range(3))
    return lambda steps: max(seconds(steps + 1) - first, 1e-9)


def loops() -> dict[str, Timer]:
    """x ← tanh(x) w + b, again and again: as a loop in either layout and by hand; then with the
    gradient of its sum with respect to w."""
    forward, gradient = _loop(backward=False), _loop(backward=True)
    return {
        "hand forward": timed(_forward_by_hand),
        "fast forward": timed(_looping(*forward, fast=True)),
        "recorded forward": timed(_looping(*forward, fast=False)),
        "hand gradient": timed(_gradient_by_hand),
        "fast gradient": timed(_looping(*gradient, fast=True)),
        "recorded gradient": timed(_looping(*gradient, fast=False)),
    }


def _loop(backward: bool) -> tuple[Graph, TensorRef]:
    build = GraphBuilder()
    with build.as_default():
        w, b = build.placeholder("w", "float32", (SIZE,)), build.constant(B)
        _, x = tf.while_loop(
            lambda i, x: i < ITERATIONS, lambda i, x: (i + 1, tf.tanh(x) * w + b), [0, X]
        )
        if not backward:
            return build.build(), x.ref
        (found,) = gradients(tf.reduce_sum(x), [w])
        assert isinstance(found, Tensor)
    return build.build(), found.ref


def _looping(graph: Graph, fetch: TensorRef, fast: bool) -> Callable[[], object]:
    return Session(graph, fast=fast).make_callable([fetch], {"w": W})


def _forward_by_hand() -> np.ndarray:
    x, i = X.copy(), 0
    while i < ITERATIONS:
        np.tanh(x, x)
        np.multiply(x, W, x)
        np.add(x, B, x)
        i += 1
    return x


def _gradient_by_hand() -> np.ndarray:
    x, kept, i = X, [], 0
    while i < ITERATIONS:
        kept.append(np.tanh(x))
        x = kept[-1] * W
        x += B
        i += 1
    grad, total, room = np.ones_like(X), np.zeros_like(W), np.empty_like(X)
    for y in reversed(kept):
        np.multiply(grad, y, room)
        np.add(total, room, total)
        np.multiply(grad, W, grad)
        np.multiply(y, y, room)
        np.subtract(1, room, room)
        np.multiply(grad, room, grad)
    return total


def measure(rounds: int, seconds: float) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in WORKLOADS:
            times = interleave(ways(name, Path(folder)), rounds, seconds)
            plan = times.pop("plan")
            found |= {f"{way} {name}": _ratios(own, plan) for way, own in times.items()}
    times = interleave(loops(), rounds, seconds)
    for what in ("forward", "gradient"):
        hand = times.pop(f"hand {what}")
        found |= {f"loop {way}": _ratios(times[way], hand) for way in times if what in way}
    return found


def _ratios(ours: list[float], theirs: list[float]) -> list[float]:
    return [a / b for a, b in zip(ours, theirs, strict=True)]


if __name__ == "__main__":
    json.dump(measure(int(sys.argv[1]), float(sys.argv[2])), sys.stdout)
