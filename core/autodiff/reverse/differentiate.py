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
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import filterfalse
from operator import attrgetter, itemgetter

import numpy as np

from gradstep.core.autodiff.reverse.backward_pass import BackwardPass
from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Slices
from gradstep.core.autodiff.reverse.gradient_end import GradientEnd
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.autodiff.reverse.merged_vjps import MergedVjps
from gradstep.core.autodiff.reverse.seed_cotangents import seed_cotangents
from gradstep.core.autodiff.reverse.vjp_result import LoopGradients
from gradstep.core.autodiff.reverse.vjp_reuse import PassRecord, RepeatedPass, rebuild
from gradstep.core.autodiff.reverse.vjp_templates import TemplatedPass
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.carry_over import known_changes
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Edge, Graph, Operation, Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.rebuilding import Rebuilder
from gradstep.core.ops.typing.inference import find_retyped, has_loops, infer_declared
from gradstep.core.persistent.edited_columns import Exchange

_PARTS = attrgetter("gradients"), attrgetter("slices"), attrgetter("edges"), attrgetter("blocked")
_GRADIENTS, _SLICES, _EDGES, _BLOCKED = _PARTS
_OP = itemgetter(0)  # of a TensorRef
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
    record:    for the next one; None where nothing of this one can be taken again.
    initial:   what variables start with that custom gradients have made.
    imported:  where the graph has had these gradients already, the scope that they were found in.
    """

    graph: Graph
    gradients: Mapping[TensorRef, TensorRef]
    slices: Mapping[TensorRef, Slices]
    edges: Mapping[Edge, TensorRef]
    blocked: Mapping[Edge, GradientEnd]
    custom: Mapping[str, str]
    request: GradientRequest = GradientRequest()
    record: PassRecord | None = field(default=None, repr=False, compare=False)
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
    named = (*request.of, *request.wrt, *filter(None, request.grad_ys))
    for name in filterfalse(graph.operations.__contains__, map(_OP, named)):
        graph[name]  # raises, before any work
    start = time.perf_counter()
    found = _reuse_or_start(graph, request, functions or {}, previous, scope)
    if _LOG.isEnabledFor(logging.DEBUG):
        _log_result(found, graph, previous, time.perf_counter() - start)
    return found


def _reuse_or_start(
    graph: Graph,
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    previous: Differentiation | None,
    scope: str,
) -> Differentiation:
    again = None if previous is None else _run_again(graph, request, functions, previous, scope)
    if again is not None and again.record is not None:
        return again  # else a function made operations outside its VJP's scope
    known = None if previous is None else previous.graph
    builder, path = GraphBuilder(graph, known), _find_slice(graph, request, None)
    with _making(builder), builder.scope(scope) as root:
        backward = TemplatedPass(builder, path, request, functions, _loop_rule, root)
        seed_cotangents(backward)
        record = PassRecord.start(backward)
        backward.run()
        zeros = _make_zeros(backward) if request.unconnected_zero else {}
    merged = MergedVjps(backward.vjps, has_loops(graph))
    return _collect(backward, merged, zeros, record, builder.finish(builder.made_since(0)))


def _run_again(
    graph: Graph,
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    previous: Differentiation,
    scope: str,
) -> Differentiation | None:
    """From what was made before an edit; None where nothing of it can be taken."""
    before, known = previous.record, previous.graph
    builder = None if before is None else rebuild(graph, request, before, known, scope)
    if before is None or builder is None:
        return None
    try:
        again, zeros, made, moved = _repeat(builder, graph, request, functions, before, known)
    except GradstepError:
        if builder.names.met_kept:
            return None  # a name that may be taken later only
        raise
    record = None if builder.names.met_kept else again.record
    loops = has_loops(graph) or has_loops(before.slice.graph)
    merged = MergedVjps(again.backward.vjps, loops, again.changed)
    return _collect(again.backward, merged, zeros, record, builder.finish(made, moved), previous)


def _repeat(
    builder: Rebuilder,
    graph: Graph,
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    before: PassRecord,
    known: Graph,
) -> tuple[RepeatedPass, dict[TensorRef, TensorRef], Sequence[str], Exchange | None]:
    """The pass, its zeros, all that was made, and how that differs from what was made before."""
    path = _find_slice(graph, request, before)
    with _making(builder), builder.scope(before.root, exact=True) as root:
        backward = TemplatedPass(builder, path, request, functions, _loop_rule, root)
        again = RepeatedPass(backward, builder, before, known)
        seed_cotangents(backward)
        again.run()
        size = builder.size
        zeros = _make_zeros(backward) if request.unconnected_zero else {}
    return again, zeros, *again.order_made(builder.made_since(size))


@contextmanager
def _making(builder: GraphBuilder) -> Iterator[None]:
    with builder.belonging_to("", Phase.BACKWARD), builder.as_default():
        yield


def _find_slice(graph: Graph, request: GradientRequest, before: PassRecord | None) -> BackwardSlice:
    types = infer_declared(graph).types
    known = None if before is None else before.slice
    if known is not None and (known.of, known.wrt) == (request.of, request.wrt):
        if known.graph is graph:
            return known
        changes = known_changes(known.graph, graph)
        if changes is not None:
            found = known.after(graph, types, changes, find_retyped(known.graph, graph))
            if found is not None:
                return found
    return BackwardSlice(graph, types, request.of, request.wrt)


def _loop_rule(
    backward: BackwardPass, op: Operation, loop: Loop, given: Sequence[Tensor | None]
) -> LoopGradients:
    """See loop_gradients, which is loaded with the first loop."""
    from gradstep.core.autodiff.reverse.while_vjp import loop_gradients

    return loop_gradients(backward, op, loop, given)


def _make_zeros(backward: BackwardPass) -> dict[TensorRef, TensorRef]:
    """Zeros for what is asked for and no gradient reached."""
    builder, zeros = backward.builder, dict[TensorRef, TensorRef]()
    for ref in backward.request.wrt:
        vjp = backward.vjps.get(ref.op)
        if ref in zeros or (vjp is not None and ref in vjp.gradients):
            continue
        builder.origin = ref.op
        with builder.scope(f"{ref.op}_grad", exact=True):
            zeros[ref] = builder.one("ZerosLike", builder.get(ref)).ref
    return zeros


def _collect(
    backward: BackwardPass,
    merged: MergedVjps,
    zeros: Mapping[TensorRef, TensorRef],
    record: PassRecord | None,
    graph: Graph,
    before: Differentiation | None = None,
) -> Differentiation:
    """before: what `merged` may go on from."""
    known = None if before is None or zeros or before.request.unconnected_zero else before.gradients
    gradients = merged.merged(_GRADIENTS, known)
    return Differentiation(
        graph=graph,
        gradients={**gradients, **zeros} if zeros else gradients,
        slices=merged.merged(_SLICES, None if before is None else before.slices),
        edges=merged.merged(_EDGES, None if before is None else before.edges),
        blocked=merged.merged(_BLOCKED, None if before is None else before.blocked),
        custom=merged.custom(None if before is None else before.custom),
        request=backward.request,
        record=record if record is not None and record.is_reusable(graph) else None,
        initial=backward.builder.variables.initial,
    )


def _log_result(
    found: Differentiation, graph: Graph, previous: Differentiation | None, seconds: float
) -> None:
    of, wrt = (
        ", ".join(ref.short for ref in refs) for refs in (found.request.of, found.request.wrt)
    )
    vjps = {} if found.record is None else found.record.vjps
    before = {} if previous is None or previous.record is None else previous.record.vjps
    _LOG.debug(
        "differentiated %s with respect to %s: %d operations made; of %d operations on the way "
        "back the rules of %d were not asked again; %d wires blocked; in %.1f ms",
        of,
        wrt,
        len(found.graph) - len(graph),
        len(vjps),
        sum(vjp is before.get(name) for name, vjp in vjps.items()),
        len(found.blocked),
        1000 * seconds,
    )


__all__ = ["Differentiation", "Slices", "differentiate"]
