"""Why a gradient is None, zero, NaN or infinite: the operation, the element, the path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.autodiff.differentiate import Differentiation
from core.autodiff.iterations import Broken
from core.autodiff.request import GradientRequest
from core.autodiff.unrolled import around_loops, unrolled
from core.autodiff.untaken import reason, untaken
from core.autodiff.walking import (
    Value,
    backward_walk,
    comes_from,
    descendants,
    flow_path,
    forward_path,
)
from core.graph.loop import loop_of
from core.graph.model import Edge, Graph, Operation, TensorRef
from core.ops.infer import declared

Inside = Callable[[str], "Broken | None"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """state: "none", "zero", "nan", "inf" or "ok".
    cause: stable word for the reason: "unconnected", "stopped", "not_differentiable", "override",
           "untaken" (a branch), "broken" (what cannot run), "zero_factor", "cancelled",
           "forward_nan", "backward_nan", "" when ok.
    node:  where it happens (a forward operation); index: in which element, if one can be named.
    path:  operations from the differentiated tensor back to `node`, or to `wrt` when ok.
    text:  one or two plain sentences.
    """

    state: str
    cause: str
    node: str | None
    index: tuple[int, ...] | None
    path: tuple[str, ...]
    text: str


def explain(
    graph: Graph,
    request: GradientRequest,
    derived: Differentiation,
    of: TensorRef,
    wrt: TensorRef,
    value: Value,
    inside: Inside = lambda name: None,
) -> Explanation:
    """Explain d(of)/d(wrt). graph: the forward graph; `derived` its differentiation for a
    request whose wrt includes `wrt`; value: a tensor of the derived graph after a run; inside: what
    in the loop that an operation runs made the first number that is not finite."""
    graph[of.op], graph[wrt.op]
    gradient = derived.gradients.get(wrt)
    if gradient is None:
        return _none(*unrolled(graph, derived), of, wrt)
    whole, derived = derived, around_loops(graph, derived)
    array = value(gradient)
    if array is None and (why := reason(derived.graph, gradient.op, value)):
        text = f"d {of.short} / d {wrt.short} has no value: it is in a branch that was not taken"
        return Explanation("none", "untaken", wrt.op, None, (), f"{text} because {why}.")
    if array is None:
        return _ok(graph, derived, of, wrt, value, "it exists; run the graph to see its value")
    if np.isnan(array).any():
        return _broken(graph, whole, of, wrt, value, "nan", inside)
    if np.isinf(array).any():
        return _broken(graph, whole, of, wrt, value, "inf", inside)
    if array.size and not array.any():
        return _zero(graph, derived, of, wrt, value)
    norm = float(np.linalg.norm(np.asarray(array, np.float64)))
    return _ok(graph, derived, of, wrt, value, f"it is finite and not zero (norm {norm:.6g})")


def _ok(
    graph: Graph,
    derived: Differentiation,
    of: TensorRef,
    wrt: TensorRef,
    value: Value,
    why: str,
) -> Explanation:
    path = flow_path(graph, derived, of, wrt, value)
    return Explanation("ok", "", None, None, path, f"d {of.short} / d {wrt.short}: {why}.")


# -- None ---------------------------------------------------------------------------------------


def _none(graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef) -> Explanation:
    paths = forward_path(graph, wrt.op, of.op)
    what = f"d {of.short} / d {wrt.short} is None"
    if (dtype := declared(derived.graph).types[of].dtype).is_integer or dtype.value in (
        "bool",
        "string",
    ):
        text = f"{what}: {of.short} holds {dtype.value} values, which have no gradient."
        return Explanation("none", "not_differentiable", of.op, None, (of.op,), text)
    if not paths:
        text = f"{what}: no wire leads from {wrt.short} to {of.short}."
        return Explanation("none", "unconnected", None, None, (), text)
    below = descendants(graph, wrt.op)
    blocks = [edge for edge in derived.blocked if comes_from(graph, edge, below)]
    if not blocks:
        text = f"{what}: nothing between them has a gradient."
        return Explanation("none", "not_differentiable", None, None, paths, text)
    rank = {name: i for i, name in enumerate(graph.order)}
    edge = max(blocks, key=lambda e: (rank[e.op], -e.index))  # nearest to `of`: it hides the rest
    why = derived.blocked[edge]
    path = (*flow_path(graph, derived, of, TensorRef(edge.op)), edge.op)
    source = graph.source(edge)
    wire = f"{source.short if source else '?'} → {edge.op}"
    others = len(blocks) - 1
    more = f" {others} other way{'s' if others > 1 else ''} back ended too." if others else ""
    text = f"{what}: the gradient ends at {edge.op}, on the wire {wire}: {why}.{more}"
    return Explanation("none", _cause(why), edge.op, None, _once(path), text)


def _cause(why: str) -> str:
    if why.startswith("stop_gradient"):
        return "stopped"
    return "override" if why.startswith("gradient '") else "not_differentiable"


# -- zero ----------------------------------------------------------------------------------------


def _zero(
    graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef, value: Value
) -> Explanation:
    what = f"d {of.short} / d {wrt.short} is zero"
    missed = untaken(graph, derived, of, wrt, value)
    if missed is not None:
        text = f"{what}: {missed.node} is in a branch that was not taken because {missed.why}."
        return Explanation("zero", "untaken", missed.node, None, missed.path, text)
    for op, edge in backward_walk(graph, derived, wrt):
        carried, arrived = value(derived.edges[edge]), _arrived(derived, op, value)
        if carried is None or carried.any() or arrived is None or not arrived.any():
            continue
        index = tuple(int(i) for i in np.argwhere(arrived)[0]) if arrived.ndim else ()
        path = (*flow_path(graph, derived, of, TensorRef(op.name), value), op.name)
        text = f"{what}: {_vanishing(op, edge, derived, value)}."
        return Explanation("zero", "zero_factor", op.name, index, _once(path), text)
    path = flow_path(graph, derived, of, wrt, value)
    text = f"{what}: the contributions of several paths cancel, or the gradient starts at zero."
    return Explanation("zero", "cancelled", wrt.op, None, path, text)


def _vanishing(op: Operation, edge: Edge, derived: Differentiation, value: Value) -> str:
    if _iterations(op, derived, value) == 0:
        return f"it comes from the iterations of {op.name}, and there were none"
    note = _input_note(op, edge, value)
    return f"a gradient arrives at {op.name} ({op.type}) and is multiplied by zero there{note}"


def _iterations(op: Operation, derived: Differentiation, value: Value) -> int | None:
    """How often the loop went round that `op` runs, if it runs one."""
    for edge in derived.graph.consumers[op.name] if loop_of(op) is not None else ():
        if derived.graph[edge.op].type == "IterationCount":
            count = value(TensorRef(edge.op))
            return None if count is None else int(count)
    return None


def _input_note(op: Operation, edge: Edge, value: Value) -> str:
    if loop_of(op) is not None:
        return ", in its iterations"
    source = op.inputs[edge.index]
    array = value(source) if source is not None else None
    if array is None or array.dtype.kind != "f" or not array.size:
        return ""
    low, high = float(array.min()), float(array.max())
    return f"; its input {source.short if source else ''} lies in [{low:.6g}, {high:.6g}]"


# -- NaN and infinity ------------------------------------------------------------------------------


def _broken(
    graph: Graph,
    derived: Differentiation,
    of: TensorRef,
    wrt: TensorRef,
    value: Value,
    state: str,
    inside: Inside,
) -> Explanation:
    """The first operation, in the order of running, that makes a non-finite value on its own."""
    word = {"nan": "NaN", "inf": "infinite"}[state]
    what = f"d {of.short} / d {wrt.short} is {word}"
    needed = derived.graph.ancestors([derived.gradients[wrt].op])
    for name in derived.graph.order:
        op = derived.graph[name]
        bad = _bad_output(derived, op, value) if name in needed else None
        if bad is None:
            continue
        inputs = [value(ref) for ref in op.inputs if ref is not None]
        if not all(_finite(x) for x in inputs if x is not None):
            continue
        if loop_of(op) is not None and (found := inside(name)) is not None:
            return _broken_inside(*unrolled(graph, derived), of, what, state, found)
        index = _first_index(bad)
        forward = op.origin or op.name
        path = (*flow_path(graph, derived, of, TensorRef(forward), value), forward)
        where = f" at index {list(index)}" if index else ""
        back = f" in the gradient of {forward} ({graph[forward].type})" if op.origin else ""
        text = f"{what}: {name} ({op.type}) makes the first {_kind(bad)}{where}{back}"
        return Explanation(
            state,
            "backward_nan" if op.origin else "forward_nan",
            forward,
            index,
            _once(path),
            f"{text}, from {_shown(op, value, index)}.",
        )
    path = flow_path(graph, derived, of, wrt, value)
    text = f"{what}: it was already there in a value that was fed or stored."
    return Explanation(state, "fed", wrt.op, None, path, text)


def _broken_inside(
    graph: Graph,
    derived: Differentiation,
    of: TensorRef,
    what: str,
    state: str,
    found: Broken,
) -> Explanation:
    """The same for an operation of a loop."""
    op, index = found.op, _first_index(found.output)
    forward = op.origin or op.name
    path = (*flow_path(graph, derived, of, TensorRef(forward)), forward)
    where = f" at index {list(index)}" if index else ""
    back = f" in the gradient of {forward} ({graph[forward].type})" if op.origin else ""
    when = ", ".join(f"iteration {number} of {loop}" for number, loop in found.iterations)
    text = f"{what}: {op.name} ({op.type}) makes the first {_kind(found.output)}{where}{back}"
    cause = "backward_nan" if op.origin else "forward_nan"
    return Explanation(state, cause, forward, index, _once(path), f"{text}, in {when}.")


def _bad_output(derived: Differentiation, op: Operation, value: Value) -> np.ndarray | None:
    """An output that is not finite, if there is one."""
    count = len(declared(derived.graph).types.of[op.name])
    arrays = (value(op.output(index)) for index in range(count))
    return next((x for x in arrays if x is not None and not _finite(x)), None)


def _first_index(bad: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(~np.isfinite(bad))[0])


def _finite(array: np.ndarray) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def _kind(array: np.ndarray) -> str:
    return "NaN" if np.isnan(array).any() else "infinity"


def _shown(op: Operation, value: Value, index: tuple[int, ...]) -> str:
    parts = []
    for ref in op.inputs:
        array = value(ref) if ref is not None else None
        if ref is None or array is None:
            continue
        here = array[index] if array.ndim == len(index) else array.flat[0] if array.size else "[]"
        parts.append(
            f"{ref.short} = {here:.6g}" if array.dtype.kind == "f" else f"{ref.short} = {here}"
        )
    return ", ".join(parts) or "no input"


def _arrived(derived: Differentiation, op: Operation, value: Value) -> np.ndarray | None:
    """The gradient of an output, one that is not zero if there is."""
    found = None
    for index in range(len(declared(derived.graph).types.of[op.name])):
        gradient = derived.gradients.get(op.output(index))
        array = None if gradient is None else value(gradient)
        if array is not None and (found is None or not found.any()):
            found = array
    return found


def _once(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path))
