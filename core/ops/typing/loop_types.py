"""Types of loop variables: such as hold before every iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.typing.inference import Inference, Inferrer, fault, infer_declared
from gradstep.core.ops.typing.invalid_operations import without_types


@dataclass(frozen=True)
class IterationTypes:
    """arguments: of the loop variables, then the captures, in every iteration. inference: of all
    tensors of an iteration."""

    arguments: tuple[TensorType, ...]
    inference: Inference


_Known = dict[tuple[TensorType, ...], IterationTypes]
_known: WeakKeyDictionary[Graph, _Known] = WeakKeyDictionary()


def iteration_types(
    loop: Loop, given: Sequence[TensorType], names: Sequence[str] = ()
) -> IterationTypes:
    """What the tensors of an iteration are when the loop gets inputs of the types `given`, called
    `names` (by default as the arguments). Raises GradstepError, in TensorFlow's words, where they
    do not fit, or where a loop variable changes more than its `_Arg` allows."""
    known = _known.setdefault(loop.graph, {})
    key = tuple(given)
    found = known.get(key)
    if found is None:
        found = known[key] = _settled(loop, given, names or loop.arguments)
    return found


def _settled(loop: Loop, given: Sequence[TensorType], names: Sequence[str]) -> IterationTypes:
    inside = infer_declared(loop.graph)
    allowed = [_typed(inside, TensorRef(name)) for name in loop.arguments]
    now = [_entering(*each) for each in zip(given, allowed, names, strict=True)]
    while True:
        inference = _inferred(loop, now)
        before = [*now]
        for index, ref in enumerate(loop.results):
            after = _typed(inference, ref)
            now[index] = _carried(now[index], after, allowed[index], names[index])
        if now == before:
            return IterationTypes(tuple(now), inference)


def _typed(inference: Inference, ref: TensorRef) -> TensorType:
    """The type of a tensor inside. Raises GradstepError for one that has none, with what is said of
    its operation."""
    found: TensorType | None = inference.types.get(ref)
    if found is not None:
        return found
    for problem in inference.problems:
        if problem.node == ref.op:
            raise GradstepError(problem.text, kind="ValueError", node=ref.op, hint=problem.fix)
    raise GradstepError(
        f"the loop has no tensor '{ref}'", kind="ValueError", node=ref.op, hint="check its index"
    )


def _entering(given: TensorType, allowed: TensorType, name: str) -> TensorType:
    if given.dtype != allowed.dtype:
        raise GradstepError(
            f"Input tensor '{name}' enters the loop with type {given.dtype.value}, "
            f"but is {allowed.dtype.value} inside it",
            kind="TypeError",
            hint="put a Cast before the loop",
        )
    try:
        return replace(given, shape=given.shape.merge(allowed.shape), ref=allowed.ref)
    except ValueError:
        raise narrower(name, given.shape, allowed.shape) from None


def _carried(now: TensorType, after: TensorType, allowed: TensorType, name: str) -> TensorType:
    """What holds before this iteration and after it."""
    if after.dtype != now.dtype:
        raise GradstepError(
            f"Input tensor '{name}' enters the loop with type {now.dtype.value}, "
            f"but has type {after.dtype.value} after one iteration.",
            kind="TypeError",
            hint="put a Cast at the end of the loop's body",
        )
    if not covers(allowed.shape, after.shape):
        raise varying_shape(name, now.shape, after.shape)
    return TensorType(now.dtype, now.shape.in_common(after.shape), now.ref)


def varying_shape(name: str, before: Shape, after: Shape) -> GradstepError:
    """TensorFlow's error for a loop variable that changes its shape."""
    return GradstepError(
        f"Input tensor '{name}' enters the loop with shape {shape_text(before)}, but has shape "
        f"{shape_text(after)} after one iteration. To allow the shape to vary across iterations, "
        "use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.",
        kind="ValueError",
        hint="write None for the size that changes, in the shape of the loop's _Arg",
    )


def narrower(name: str, given: Shape, wanted: Shape) -> GradstepError:
    """TensorFlow's error for a loop variable that does not start with its shape."""
    return GradstepError(
        f"The shape invariant specified for {name} is not compatible with the initial shape of the "
        f"loop variable. It enters the loop with shape {shape_text(given)}, but the specified "
        f"shape invariant is {shape_text(wanted)}.",
        kind="ValueError",
        hint="write None for a size that changes",
    )


def covers(allowed: Shape, shape: Shape) -> bool:
    """Whether every tensor of `shape` is one of `allowed`."""
    if allowed.dims is None:
        return True
    if shape.dims is None or len(shape.dims) != len(allowed.dims):
        return False
    return all(a is None or a == s for a, s in zip(allowed.dims, shape.dims, strict=True))


def shape_text(shape: Shape) -> str:
    """As Python writes it: (2, None)."""
    return "<unknown>" if shape.dims is None else str(shape.dims)


def _inferred(loop: Loop, arguments: Sequence[TensorType]) -> Inference:
    """Types of an iteration on these. Raises GradstepError located at what cannot be typed; what
    stands on an unknown operation, or an open input, is nobody's business unless it goes round."""
    inferrer, graph = Inferrer(), loop.graph
    for name, kind in zip(loop.arguments, arguments, strict=True):
        inferrer.feed(TensorRef(name), kind)
    given = frozenset(loop.arguments)
    lost = without_types(graph)
    for name in graph.order:
        if name not in given and name not in lost:
            inferrer.infer(graph[name])
    for ref in (loop.cond, *loop.results):
        if ref.op in lost:
            raise fault(lost[ref.op])
    return inferrer.found()
