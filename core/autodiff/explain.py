"""Why a gradient is None, zero, NaN or infinite: the operation, the element, the path."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.autodiff.differentiate import Differentiation
from core.autodiff.request import GradientRequest
from core.graph.model import Edge, Graph, Operation, TensorRef
from core.ops.infer import declared

Value = Callable[[TensorRef], "np.ndarray | None"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """state: "none", "zero", "nan", "inf" or "ok".
    cause: stable word for the reason: "unconnected", "stopped", "not_differentiable", "override",
           "zero_factor", "cancelled", "forward_nan", "backward_nan", "" when ok.
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
) -> Explanation:
    """Explain d(of)/d(wrt). graph: the forward graph; `derived` its differentiation for a
    request whose wrt includes `wrt`; value: a tensor of the derived graph after a run."""
    graph[of.op], graph[wrt.op]
    gradient = derived.gradients.get(wrt)
    if gradient is None:
        return _none(graph, derived, of, wrt)
    array = value(gradient)
    if array is None:
        return _ok(graph, derived, of, wrt, "it exists; run the graph to see its value")
    if np.isnan(array).any():
        return _broken(graph, derived, of, wrt, value, "nan")
    if np.isinf(array).any():
        return _broken(graph, derived, of, wrt, value, "inf")
    if array.size and not array.any():
        return _zero(graph, derived, of, wrt, value)
    norm = float(np.linalg.norm(np.asarray(array, np.float64)))
    return _ok(graph, derived, of, wrt, f"it is finite and not zero (norm {norm:.6g})")


def _ok(
    graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef, why: str
) -> Explanation:
    path = _flow_path(graph, derived, of, wrt)
    return Explanation("ok", "", None, None, path, f"d {of.short} / d {wrt.short}: {why}.")


# -- None ---------------------------------------------------------------------------------------


def _none(graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef) -> Explanation:
    paths = _forward_path(graph, wrt.op, of.op)
    what = f"d {of.short} / d {wrt.short} is None"
    if (dtype := declared(graph).types[of].dtype).is_integer or dtype.value in ("bool", "string"):
        text = f"{what}: {of.short} holds {dtype.value} values, which have no gradient."
        return Explanation("none", "not_differentiable", of.op, None, (of.op,), text)
    if not paths:
        text = f"{what}: no wire leads from {wrt.short} to {of.short}."
        return Explanation("none", "unconnected", None, None, (), text)
    below = _descendants(graph, wrt.op)
    blocks = [edge for edge in derived.blocked if _comes_from(graph, edge, below)]
    if not blocks:
        text = f"{what}: nothing between them has a gradient."
        return Explanation("none", "not_differentiable", None, None, paths, text)
    rank = {name: i for i, name in enumerate(graph.order)}
    edge = max(blocks, key=lambda e: (rank[e.op], -e.index))  # nearest to `of`: it hides the rest
    why = derived.blocked[edge]
    path = (*_flow_path(graph, derived, of, TensorRef(edge.op)), edge.op)
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


def _comes_from(graph: Graph, edge: Edge, names: set[str]) -> bool:
    source = graph.source(edge)
    return source is not None and source.op in names


def _descendants(graph: Graph, name: str) -> set[str]:
    """`name` and every operation its value reaches through wires."""
    seen: set[str] = set()
    stack = [name]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            stack.extend(edge.op for edge in graph.consumers[current])
    return seen


# -- zero ----------------------------------------------------------------------------------------


def _zero(
    graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef, value: Value
) -> Explanation:
    what = f"d {of.short} / d {wrt.short} is zero"
    for op, edge in _backward_walk(graph, derived, wrt):
        carried, arrived = value(derived.edges[edge]), _arrived(derived, op, value)
        if carried is None or carried.any() or arrived is None or not arrived.any():
            continue
        index = tuple(int(i) for i in np.argwhere(arrived)[0]) if arrived.ndim else ()
        path = (*_flow_path(graph, derived, of, TensorRef(op.name)), op.name)
        text = (
            f"{what}: a gradient arrives at {op.name} ({op.type}) and is multiplied by zero "
            f"there{_input_note(op, edge, value)}."
        )
        return Explanation("zero", "zero_factor", op.name, index, _once(path), text)
    path = _flow_path(graph, derived, of, wrt)
    text = f"{what}: the contributions of several paths cancel, or the gradient starts at zero."
    return Explanation("zero", "cancelled", wrt.op, None, path, text)


def _input_note(op: Operation, edge: Edge, value: Value) -> str:
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
) -> Explanation:
    """The first operation, in the order of running, that makes a non-finite value on its own."""
    word = {"nan": "NaN", "inf": "infinite"}[state]
    what = f"d {of.short} / d {wrt.short} is {word}"
    needed = derived.graph.ancestors([derived.gradients[wrt].op])
    for name in derived.graph.order:
        op = derived.graph[name]
        bad = value(op.output()) if name in needed else None
        if bad is None or bad.dtype.kind not in "fc" or np.isfinite(bad).all():
            continue
        inputs = [value(ref) for ref in op.inputs if ref is not None]
        if not all(_finite(x) for x in inputs if x is not None):
            continue
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(bad))[0])
        forward = op.origin or op.name
        path = (*_flow_path(graph, derived, of, TensorRef(forward)), forward)
        where = f" at index {list(index)}" if index else ""
        inside = f" in the gradient of {forward} ({graph[forward].type})" if op.origin else ""
        text = f"{what}: {name} ({op.type}) makes the first {_kind(bad)}{where}{inside}"
        return Explanation(
            state,
            "backward_nan" if op.origin else "forward_nan",
            forward,
            index,
            _once(path),
            f"{text}, from {_shown(op, value, index)}.",
        )
    path = _flow_path(graph, derived, of, wrt)
    text = f"{what}: it was already there in a value that was fed or stored."
    return Explanation(state, "fed", wrt.op, None, path, text)


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


# -- walking ---------------------------------------------------------------------------------------


def _backward_walk(
    graph: Graph, derived: Differentiation, wrt: TensorRef
) -> Iterable[tuple[Operation, Edge]]:
    """Operations whose gradient flows on towards `wrt`, with that wire, the last op first."""
    below = _descendants(graph, wrt.op)
    for name in reversed(graph.order):
        op = graph[name]
        for index in range(len(op.inputs)):
            edge = Edge(name, index)
            if edge in derived.edges and _comes_from(graph, edge, below):
                yield op, edge


def _arrived(derived: Differentiation, op: Operation, value: Value) -> np.ndarray | None:
    gradient = derived.gradients.get(op.output())
    return None if gradient is None else value(gradient)


def _flow_path(
    graph: Graph, derived: Differentiation, of: TensorRef, to: TensorRef
) -> tuple[str, ...]:
    """Operations along which a gradient flows from `of` to `to`, the shortest way."""
    came: dict[str, str] = {of.op: ""}
    queue = deque([of.op])
    while queue:
        name = queue.popleft()
        if name == to.op:
            return _unwind(came, name)
        for index, source in enumerate(graph[name].inputs):
            if source and Edge(name, index) in derived.edges and source.op not in came:
                came[source.op] = name
                queue.append(source.op)
    return (of.op,)


def _forward_path(graph: Graph, start: str, end: str) -> tuple[str, ...]:
    """Operations from `end` back to `start` along any wires, the shortest way; () if none."""
    came: dict[str, str] = {end: ""}
    queue = deque([end])
    while queue:
        name = queue.popleft()
        if name == start:
            return _unwind(came, name)
        for source in graph[name].inputs:
            if source and source.op not in came:
                came[source.op] = name
                queue.append(source.op)
    return ()


def _unwind(came: dict[str, str], name: str) -> tuple[str, ...]:
    path = [name]
    while came[path[-1]]:
        path.append(came[path[-1]])
    return tuple(reversed(path))


def _once(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path))
