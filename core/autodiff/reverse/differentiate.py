"""Reverse mode as a pure function: a graph in, the same graph with gradient operations out.

The order of work and the results are TensorFlow 1's `tf.gradients`: one `gradients` scope a
call, a `<op>_grad` scope for each forward operation, AddN where paths meet, None where nothing
connects. Every operation made remembers the forward operation it belongs to, and lies in its
scope, an AddN too: what changes at one operation renames nothing at another.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gradstep.core.autodiff.reverse.backward_pass import BackwardPass
from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution, Slices
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.autodiff.reverse.op_vjp import OpVjp
from gradstep.core.autodiff.reverse.seed_cotangents import starting
from gradstep.core.autodiff.reverse.vjp_result import LoopGradients, VjpResult
from gradstep.core.autodiff.reverse.vjp_reuse import Reuse, Trail, differing_turns
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Edge, Graph, Operation, Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.typing.inference import declared

_LOG = logging.getLogger("gradstep.autodiff")


@dataclass(frozen=True)
class Differentiation:
    """The result.

    graph:     the forward graph and the gradient operations after it.
    gradients: for each tensor between `wrt` and `of` that a gradient reached, the tensor that
               holds it. A tensor that is absent has the gradient None.
    slices:    for each of them whose gradient TensorFlow gives as IndexedSlices: its rows. Its
               entry in `gradients` is the same as a whole tensor.
    edges:     for each wire that a gradient flows back through, the contribution it carries.
    blocked:   for each wire where a gradient ends although its operation had one: why.
    custom:    operations differentiated by something other than their own rule -> its name.
    request:   what was asked for.
    trail:     for the next one; None where nothing of this one can be taken again.
    initial:   what variables start with that custom gradients have made.
    imported:  where the graph has had these gradients already, the scope that they were found in.
    """

    graph: Graph
    gradients: Mapping[TensorRef, TensorRef]
    slices: Mapping[TensorRef, Slices]
    edges: Mapping[Edge, TensorRef]
    blocked: Mapping[Edge, str]
    custom: Mapping[str, str]
    request: GradientRequest = GradientRequest()
    trail: Trail | None = field(default=None, repr=False, compare=False)
    initial: Mapping[str, np.ndarray] = field(default_factory=dict)
    imported: str = ""

    @property
    def of(self) -> tuple[TensorRef, ...]:
        """What was differentiated."""
        return self.request.of


@collector_paused()
def differentiate(
    graph: Graph,
    request: GradientRequest,
    functions: Mapping[str, GradientFunction] | None = None,
    previous: Differentiation | None = None,
    scope: str = "gradients",
) -> Differentiation:
    """Append the gradient of `request.of` with respect to every tensor that leads to it from
    `request.wrt`. `functions` are the custom gradients by name. Raises GradstepError at the
    operation whose rule is missing (LookupError) or gives a wrong result (ValueError).

    previous: of this graph, or of one that shares operations with it, for another request perhaps.
    The result is the same as without, its operations the very same where nothing changed.
    scope: of all that is made, numbered if it is taken."""
    for ref in (*request.of, *request.wrt, *filter(None, request.grad_ys)):
        graph[ref.op]  # a name that is not there is said before any work
    start = time.perf_counter()
    found = _taking_over(graph, request, functions or {}, previous, scope)
    if _LOG.isEnabledFor(logging.DEBUG):
        _log_result(found, graph, previous, time.perf_counter() - start)
    return found


def _taking_over(
    graph: Graph,
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    previous: Differentiation | None,
    scope: str,
) -> Differentiation:
    known = None if previous is None else previous.graph
    trail = None if previous is None else previous.trail
    if trail is not None and known is not None:
        again = _Again(graph, request, functions, known, trail).run(scope)
        if again.trail is not None:
            return again  # else a function made operations outside its turn's scope
    return _Reverse(graph, request, functions, known).run(scope)


def _log_result(
    found: Differentiation, graph: Graph, previous: Differentiation | None, seconds: float
) -> None:
    of, wrt = (
        ", ".join(ref.short for ref in refs) for refs in (found.request.of, found.request.wrt)
    )
    turns = {} if found.trail is None else found.trail.turns
    before = {} if previous is None or previous.trail is None else previous.trail.turns
    _LOG.debug(
        "differentiated %s with respect to %s: %d operations made; of %d operations on the way "
        "back the rules of %d were not asked again; %d wires blocked; in %.1f ms",
        of,
        wrt,
        len(found.graph) - len(graph),
        len(turns),
        sum(turn is before.get(name) for name, turn in turns.items()),
        len(found.blocked),
        1000 * seconds,
    )


def _loop_rule(
    backward: OpVjp, op: Operation, loop: Loop, given: Sequence[Tensor | None]
) -> LoopGradients:
    """See loop_gradients, which is loaded with the first loop."""
    from gradstep.core.autodiff.loops.while_vjp import loop_gradients

    return loop_gradients(backward, op, loop, given)


class _Reverse(BackwardPass):
    """One call of `differentiate`, while it lasts. known: a graph whose operations are taken where
    equal ones are made."""

    def __init__(
        self,
        graph: Graph,
        request: GradientRequest,
        functions: Mapping[str, GradientFunction],
        known: Graph | None,
    ) -> None:
        self.graph, self.request, self.functions = graph, request, functions
        super().__init__(GraphBuilder(graph, known), self._way(), request, functions, _loop_rule)

    def run(self, scope: str) -> Differentiation:
        builder = self.builder
        with (
            builder.belonging_to("", Phase.BACKWARD),
            builder.as_default(),
            builder.scope(scope) as root,
        ):
            self.backward.root = root
            self._seed()
            names = frozenset(self.functions)
            trail = Trail(self.way, self.request, names, root, self.seeds, self.turns, builder.size)
            self._turns(trail)
            zeros = self._unconnected()
        return self._result(zeros, trail)

    def _way(self) -> BackwardSlice:
        types = declared(self.graph).types
        return BackwardSlice(self.graph, types, self.request.of, self.request.wrt)

    def _turns(self, trail: Trail) -> None:
        self.walk()

    def _seed(self) -> None:
        given = self.request.grad_ys or (None,) * len(self.request.of)
        if len(given) != len(self.request.of):
            raise GradstepError(
                f"Length mismatch. Passed {len(given)} grad_ys for {len(self.request.of)} ys",
                kind="ValueError",
                hint="give one for each tensor that is differentiated",
            )
        for number, (ref, grad_y) in enumerate(zip(self.request.of, given, strict=True)):
            y = self.builder.get(ref)
            start = None if grad_y is None else self.builder.get(grad_y)
            self.builder.origin = ref.op
            first = starting(y, start, f"grad_ys_{number}")
            if first is not None:
                self.seed(ref, Contribution(first.ref))

    def _unconnected(self) -> dict[TensorRef, TensorRef]:
        """Zeros for what no gradient reached, where they are asked for."""
        zeros: dict[TensorRef, TensorRef] = {}
        for ref in self.request.wrt if self.request.unconnected_zero else ():
            turn = self.turns.get(ref.op)
            if ref in zeros or (turn is not None and ref in turn.gradients):
                continue
            self.builder.origin = ref.op
            with self.builder.scope(f"{ref.op}_grad", exact=True):
                zeros[ref] = self.builder.one("ZerosLike", self.builder.get(ref)).ref
        return zeros

    def _result(self, zeros: Mapping[TensorRef, TensorRef], trail: Trail) -> Differentiation:
        gradients: dict[TensorRef, TensorRef] = {}
        slices: dict[TensorRef, Slices] = {}
        edges: dict[Edge, TensorRef] = {}
        blocked: dict[Edge, str] = {}
        custom: dict[str, str] = {}
        for name, turn in _with_inside(self.turns):
            gradients.update(turn.gradients)
            if turn.edges:
                edges.update(turn.edges)
            if turn.slices:
                slices.update(turn.slices)
            if turn.blocked:
                blocked.update(turn.blocked)
            if turn.custom:
                custom[name] = turn.custom
        gradients.update(zeros)
        left = trail if trail.can_be_followed else None
        graph, made = self.builder.build(), self.builder.variables.initial
        return Differentiation(
            graph, gradients, slices, edges, blocked, custom, self.request, left, made
        )


def _with_inside(turns: Mapping[str, VjpResult]) -> Iterator[tuple[str, VjpResult]]:
    """The turns, each before those inside its operation, if that is a loop."""
    for name, turn in turns.items():
        yield name, turn
        yield from _with_inside(turn.inside)


class _Again(_Reverse):
    """The same, taking what turns it can from `before`, which led to `known`."""

    def __init__(
        self,
        graph: Graph,
        request: GradientRequest,
        functions: Mapping[str, GradientFunction],
        known: Graph,
        before: Trail,
    ) -> None:
        self.before, self.known = before, known
        super().__init__(graph, request, functions, known)

    def _way(self) -> BackwardSlice:
        way = self.before.way
        same = way.graph is self.graph and (way.of, way.wrt) == (self.request.of, self.request.wrt)
        return way if same else super()._way()

    def _turns(self, trail: Trail) -> None:
        if (trail.root, trail.request.gate) != (self.before.root, self.before.request.gate):
            return super()._turns(trail)
        reuse, turns = Reuse(self.builder, self.before, self.known), self.before.turns
        differing = differing_turns(self.before, trail)
        for name, op in self.way.path.items():
            if name in turns and name not in differing:
                self.turns[name] = reuse.take(name)
                continue
            reuse.flush()
            turn = self.turns[name] = self.turn(op)
            if not reuse.went_alike(name, turn):
                differing.update(ref.op for ref in op.inputs if ref is not None)
        reuse.flush()
        return None


__all__ = ["Differentiation", "Slices", "differentiate"]
