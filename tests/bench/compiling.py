"""How long a graph of 10,000 operations takes from the drawing to the first step.

    python -m tests.bench.compiling REPEATS SECONDS

prints one JSON object: what was measured -> CPU seconds (or ratios), as many of REPEATS as can be
begun within SECONDS.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.bench.ours import Arrays, Run, program

OPS = 10_000
_OPS_OF_A_BLOCK = 8
_BATCH, _WIDTH = 4, 8


@dataclass(frozen=True)
class Network:
    """graph: residual blocks of matrix product, bias, tanh, gain and sum."""

    graph: Graph
    request: GradientRequest
    feeds: Arrays
    initial: Arrays

    def drawn_anew(self) -> Network:
        """The same, with nothing remembered of it."""
        return replace(self, graph=Graph(dict(self.graph.operations)))


def network(ops: int) -> Network:
    """Of `ops` operations, all of whose variables get gradients."""
    build = GraphBuilder()
    initial: dict[str, np.ndarray] = {}
    h = build.placeholder("x", "float32", (_BATCH, _WIDTH))
    for number in range((ops - 3) // _OPS_OF_A_BLOCK):
        with build.scope(f"block{number}") as scope:
            w = build.variable("w", "float32", (_WIDTH, _WIDTH))
            b = build.variable("b", "float32", (_WIDTH,))
            gain = build.constant(np.float32(0.01))
            h = h + tf.tanh(tf.nn.bias_add(tf.matmul(h, w), b)) * gain
            initial[f"{scope}/w"] = np.eye(_WIDTH, dtype=np.float32)
            initial[f"{scope}/b"] = np.zeros(_WIDTH, np.float32)
    loss = tf.reduce_sum(h)
    request = GradientRequest((loss.ref,), tuple(TensorRef(name) for name in initial))
    feeds = {"x": np.ones((_BATCH, _WIDTH), np.float32)}
    return Network(build.build(), request, feeds, initial)


@dataclass(frozen=True)
class Compiled:
    """A network that runs."""

    derived: Differentiation
    run: Run


def compiled(network: Network, mode: str, before: Compiled | None = None) -> Compiled:
    """From a drawn graph to something that runs. before: what ran before an edit."""
    known, last = (None, None) if before is None else (before.derived, before.run)
    derived = differentiate(network.graph, network.request, previous=known)
    grads = [derived.gradients[x] for x in network.request.wrt if x in derived.gradients]
    fetches = [*network.request.of, *grads]
    feeds, initial = network.feeds, network.initial
    return Compiled(derived, program(derived.graph, fetches, (), feeds, initial, mode, before=last))


def recompiled(network: Network, request: GradientRequest, before: Compiled) -> Compiled:
    """The same graph, after the user changed what is asked of it."""
    return compiled(replace(network, request=request), "record", before)


def _middle(network: Network, type: str) -> str:
    names = [op.name for op in network.graph if op.type == type]
    return names[len(names) // 2]


def _with_stop(network: Network) -> GradientRequest:
    return replace(network.request, stops=frozenset({TensorRef(_middle(network, "BiasAdd"))}))


def _with_override(network: Network) -> GradientRequest:
    override = Override("Identity", _middle(network, "Tanh"), OverrideKind.OP)
    return replace(network.request, overrides=(override,))


def _seconds(work: Callable[[], Compiled]) -> float:
    start = time.process_time()
    done = work()
    taken = time.process_time() - start
    done.run.step()  # it is ready, indeed
    return taken


class Stopwatch:
    """What targets.COMPILING names, measured while there is time: of `budget` seconds of the
    clock, none is begun after the last."""

    def __init__(self, ops: int, budget: float) -> None:
        self._small, self._large = network(ops), network(2 * ops)
        self._end = time.monotonic() + budget
        self.found: dict[str, list[float]] = {}

    def round(self) -> None:
        """Each once."""
        small = self._small
        self._grown("record")
        for key, other in (("stop", _with_stop(small)), ("override", _with_override(small))):
            if self._has_time():
                before = compiled(small, "record")
                before.run.step()  # the user has been looking at it
                self._note(key, _seconds(partial(recompiled, small, other, before)))
        self._grown("fast")

    def _grown(self, mode: str) -> None:
        if not self._has_time():
            return
        first = _seconds(lambda: compiled(self._small.drawn_anew(), mode))
        self._note(mode, first)
        if self._has_time():
            second = _seconds(lambda: compiled(self._large.drawn_anew(), mode))
            self._note(f"{mode}_growth", second / first)

    def _note(self, key: str, value: float) -> None:
        self.found.setdefault(key, []).append(value)

    def _has_time(self) -> bool:
        return time.monotonic() < self._end


def measure(ops: int, repeats: int, budget: float) -> dict[str, list[float]]:
    """What was measured -> its values."""
    compiled(network(ops // 10), "fast")  # imports are no part of it
    watch = Stopwatch(ops, budget)
    for _ in range(repeats):
        watch.round()
    return watch.found


if __name__ == "__main__":
    json.dump(measure(OPS, int(sys.argv[1]), float(sys.argv[2])), sys.stdout)
