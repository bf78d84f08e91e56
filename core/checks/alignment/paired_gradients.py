"""The gradients of one loss in two networks, weight by weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.alignment.equal_numbers import as_arranged, distance
from gradstep.core.checks.alignment.network_run import NetworkRun
from gradstep.core.checks.alignment.value_matching import Matching
from gradstep.core.document.document import CodeKind
from gradstep.core.document.requests import trainable_variables
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.program.questions.loaded_document import start

_ROOM = 10  # how many times the tolerance of values gradients may be apart: they go twice as far


@dataclass(frozen=True)
class GradientPair:
    """Two weights, how far their gradients are apart, and how far they may be; infinite where one
    alone has a gradient. In the order in which they are made, backward."""

    file: str
    other: str
    distance: float
    limit: float


def pair_gradients(
    runs: tuple[NetworkRun, NetworkRun], matching: Matching, weights: Matching, tolerance: float
) -> tuple[GradientPair, ...] | None:
    """None where neither asks for a loss of one number that the other has, too. Raises
    GradstepError."""
    losses = next(_losses(runs, matching), None)
    if losses is None:
        return None
    pairs = [(a, b) for a, found in weights.right.items() for b in found[:1]]
    pairs = [p for p in pairs if all(map(_is_trained, runs, p))]
    sides = zip(runs, losses, zip(*pairs, strict=True), strict=True) if pairs else ()
    found = [_gradients(run, loss, wrt) for run, loss, wrt in sides]
    if not found:
        return None
    rows = [
        GradientPair(a.op, b.op, _apart(found[0].get(a), found[1].get(b)), _ROOM * tolerance)
        for a, b in reversed(pairs)
    ]
    return tuple(rows)


def _losses(
    runs: tuple[NetworkRun, NetworkRun], matching: Matching
) -> Iterator[tuple[TensorRef, TensorRef]]:
    for a in runs[0].document.request.of:
        yield from ((a, b) for b in matching.right.get(a, ())[-1:])
    for b in runs[1].document.request.of:
        yield from ((a, b) for a in matching.left.get(b, ())[-1:])


def _is_trained(run: NetworkRun, ref: TensorRef) -> bool:
    """As the document says, or else its variables: averages of a normalization are not."""
    request = run.document.request
    return ref in (request.wrt if request.of else trainable_variables(run.graph))


def _gradients(
    run: NetworkRun, loss: TensorRef, wrt: tuple[TensorRef, ...]
) -> dict[TensorRef, np.ndarray]:
    rules = run.loaded.of_kind(CodeKind.GRADIENT)
    request = GradientRequest(of=(loss,), wrt=wrt)
    made = differentiate(run.graph, request, rules)
    there = [ref for ref in wrt if ref in made.gradients]
    initial = {**run.loaded.initial(), **made.initial}
    session = start(run.loaded, made.graph, NumpyBackend(), initial)
    feeds = {ref: value for ref, value in run.feeds.items() if ref.op in made.graph}
    with printing_to(nowhere), np.errstate(all="ignore"):
        values = session.run([made.gradients[ref] for ref in there], feeds)
    return dict(zip(there, values, strict=True))


def _apart(left: np.ndarray | None, right: np.ndarray | None) -> float:
    if left is None or right is None:
        return 0.0 if left is right else np.inf
    turned = as_arranged(left, right)
    return np.inf if turned is None else distance(turned, right)
