"""The gradients of one loss in two networks, weight by weight."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.alignment.compared_networks import ComparedNetworks
from gradstep.core.checks.alignment.equal_numbers import as_arranged, distance
from gradstep.core.checks.alignment.network_run import NetworkRun
from gradstep.core.checks.alignment.value_matching import Pairs
from gradstep.core.document.document import CodeKind
from gradstep.core.document.requests import requests, trainable_variables
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.program.questions.loaded_document import start

_FLOOR = 1e-3  # of the largest gradient's norm: one that is less may be what rounding left of 0
_ROOM = 10  # how many times the tolerance of values gradients may be apart: they go twice as far


@dataclass(frozen=True)
class GradientPair:
    """Two weights, how far their gradients are apart, and how far they may be; infinite where one
    alone has a gradient. In the order in which they are made, backward."""

    file: str
    other: str
    distance: float
    limit: float


def pair_gradients(networks: ComparedNetworks) -> tuple[GradientPair, ...] | None:
    """None where neither asks for a loss that the other has, too. Weights of the same numbers, such
    as biases of zero, are told apart by their gradients. Raises GradstepError."""
    runs = networks.runs
    losses = next(_losses(networks), None)
    trained = [_trained(run) for run in runs]
    pairs = [
        (a, b)
        for a, found in networks.weights.right.items()
        for b in found
        if a in trained[0] and b in trained[1]
    ]
    if losses is None or not pairs:
        return None
    mine, theirs = (
        _gradients(run, loss, tuple(dict.fromkeys(side)))
        for run, loss, side in zip(runs, losses, zip(*pairs, strict=True), strict=True)
    )
    floor = _FLOOR * max(map(_norm, mine.values()), default=0.0)
    apart = [(_apart(mine.get(a), theirs.get(b), floor), a, b) for a, b in pairs]
    limit = _ROOM * networks.tolerance
    return tuple(GradientPair(a.op, b.op, d, limit) for d, a, b in _assigned(apart, runs[0]))


def _assigned(
    apart: Iterable[tuple[float, TensorRef, TensorRef]], left: NetworkRun
) -> list[tuple[float, TensorRef, TensorRef]]:
    """Each weight once, the nearest first; last weight first, as gradients are made."""
    used, found = (set[TensorRef](), set[TensorRef]()), list[tuple[float, TensorRef, TensorRef]]()
    for distance_, a, b in sorted(apart, key=lambda one: one[0]):
        if a not in used[0] and b not in used[1]:
            used[0].add(a)
            used[1].add(b)
            found.append((distance_, a, b))
    places = {name: i for i, name in enumerate(left.needed)}
    return sorted(found, key=lambda one: -places[one[1].op])


def _losses(networks: ComparedNetworks) -> Iterator[tuple[TensorRef, TensorRef]]:
    """What one asks for, and its counterpart: what the other asks for, if that is one."""
    mine, theirs = (one.of for one in map(_asked, networks.runs))
    rightward, leftward = networks.partners
    for a in mine:
        yield from ((a, b) for b in _likeliest(a, rightward, theirs))
    for b in theirs:
        yield from ((a, b) for a in _likeliest(b, leftward, mine))


def _likeliest(ref: TensorRef, partners: Pairs, asked: Collection[TensorRef]) -> list[TensorRef]:
    return sorted(partners.get(ref, ()), key=lambda one: (one not in asked, one != ref))


def _asked(run: NetworkRun) -> GradientRequest:
    """The first thing that the document differentiates."""
    return next(iter(requests(run.document)), run.document.request)


def _trained(run: NetworkRun) -> Collection[TensorRef]:
    """As the document says, or else its variables: averages of a normalization are not."""
    request = _asked(run)
    return request.wrt if request.of and request.wrt else trainable_variables(run.graph)


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


def _apart(left: np.ndarray | None, right: np.ndarray | None, floor: float) -> float:
    """Over their norm, or over `floor` where that is larger."""
    if left is None or right is None:
        return 0.0 if left is right else np.inf
    turned = as_arranged(left, right)
    if turned is None:
        return np.inf
    size = max(_norm(left), _norm(right))
    return distance(turned, right) * (size / floor if size < floor else 1.0)


def _norm(array: np.ndarray) -> float:
    return float(np.linalg.norm(array))
