"""Whether a tensor fits an input: its element type and rank, tried on the op's own type rule.

Sizes that do not agree are no misfit: users build in any order, and a problem at the node says so.
What is not known (an open input, an operation that cannot be typed) never refuses.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef, attrs_key
from gradstep.core.memory_release import forget_with_document
from gradstep.core.ops.declare.input_spec import InputSpec
from gradstep.core.ops.declare.resource_handles import element_type
from gradstep.core.ops.declare.table import InferContext, OpDef, find

Kinds = Sequence[TensorType | None]  # of an op's inputs; None: open, or not known

_MOST_OPEN = 3  # inputs of which every likely type is tried; with more of them nothing is refused
_MOST_KNOWN = 20_000
_known: dict[tuple[Hashable, ...], tuple[GradstepError | None]] = {}
forget_with_document(_known.clear)
# What an open input may turn out to be, after what the others are.
_LIKELY = (DType.FLOAT32, DType.INT32, DType.BOOL, DType.STRING, DType.COMPLEX64, DType.RESOURCE)


def why_not(
    graph: Graph, types: Mapping[TensorRef, TensorType], source: TensorRef, edge: Edge
) -> GradstepError | None:
    """Why `source` cannot go into `edge`: what the input takes, what it would get, and what to do;
    None where it can. types: of the graph, and of what is in its loops."""
    kind = types.get(source)
    if kind is None:
        return None
    op = anywhere(graph, edge.op)
    kinds = [None if ref is None else types.get(ref) for ref in op.inputs]
    kinds[edge.index : edge.index + 1] = [kind]
    error = misfit(op, edge.index, kinds)
    if error is None:
        return None
    return GradstepError(
        f"'{source.short}', {kind}, does not fit input '{_name(op, edge.index, len(kinds))}' of "
        f"'{op.name}': {error.message}",
        kind="ValueError",
        node=op.name,
        hint=error.hint,
    )


def cast_that_fits(
    graph: Graph, types: Mapping[TensorRef, TensorType], source: TensorRef, edge: Edge
) -> DType | None:
    """The element type to which `source` is to be cast to go into `edge`, which would not take it
    as it is; None where no Cast helps."""
    kind, op = types.get(source), anywhere(graph, edge.op)
    if kind is None or not kind.dtype.is_castable:
        return None
    kinds = [None if ref is None else types.get(ref) for ref in op.inputs]
    castable = (d for d in taken_types(op, edge.index, kinds, kind.shape) if d.is_castable)
    return next(castable, None)


def taken_types(op: Operation, index: int, kinds: Kinds, shape: Shape = UNKNOWN) -> Iterator[DType]:
    """The element types of which input `index` of `op` takes a tensor of this shape, beside others
    of the types `kinds`; the likeliest first."""
    definition = find(op.type)
    others = [*kinds[:index], None, *kinds[index + 1 :]]
    for wanted in () if definition is None else _likely(definition, others, index):
        given = [*kinds[:index], replace(wanted, shape=shape), *kinds[index + 1 :]]
        if misfit(op, index, given) is None:
            yield wanted.dtype


def misfit(op: Operation, index: int, kinds: Kinds) -> GradstepError | None:
    """Why input `index` of `op` cannot be of the type that `kinds` gives it, with the other inputs
    as they say; None where it can, and where something else is to blame. It says nothing of which
    operation it is, and is remembered: a graph has many alike."""
    attrs = attrs_key(op.attrs)
    if attrs is None:
        return _misfit(op, index, kinds)
    key = (op.type, attrs, index, *kinds)
    known = _known.get(key)
    if known is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _misfit(op, index, kinds)
        known = _known[key] = (None if found is None else found.bare(),)
    return known[0]


def _misfit(op: Operation, index: int, kinds: Kinds) -> GradstepError | None:
    definition, kind = find(op.type), kinds[index]
    if definition is None or kind is None:
        return None
    try:
        definition.arity(len(kinds))
    except GradstepError:
        return None  # of its own accord: one input of two lists
    if _takes_buffer(definition, index) and not kind.ref:
        return GradstepError(
            f"{op.type} needs a variable here",
            kind="ValueError",
            hint="wire a VariableV2, or what stands for one, into it",
        )
    ranks = [k if k is None else _with_rank(k) for k in kinds]
    error = _refusal(definition, op, ranks, _MOST_OPEN)
    if error is None:
        return None
    others = [None if i == index else k for i, k in enumerate(ranks)]
    if _refusal(definition, op, others, _MOST_OPEN + 1) is not None:
        return None  # it would be refused whatever came in here
    return _in_words(definition, op, index, kinds, error)


def _in_words(
    definition: OpDef, op: Operation, index: int, kinds: Kinds, error: GradstepError
) -> GradstepError:
    """The refusal with the sizes that are known, and something to do."""
    exact = _refusal(definition, op, kinds, _MOST_OPEN) or error
    if exact.hint:
        return exact
    kind = kinds[index]
    assert kind is not None  # asked before
    any_rank = [*kinds[:index], replace(kind, shape=UNKNOWN), *kinds[index + 1 :]]
    of_type = _refusal(definition, op, any_rank, _MOST_OPEN) is not None
    hint = "put a Cast before it" if of_type else "put a Reshape before it"
    return GradstepError(exact.message, kind=exact.kind, hint=hint)


def _refusal(
    definition: OpDef, op: Operation, kinds: Kinds, most_open: int
) -> GradstepError | None:
    """What the type rule says against all likely types of the open inputs; None where it takes
    some, or cannot tell."""
    if sum(kind is None for kind in kinds) > most_open:
        return None
    numbered = enumerate(kinds)
    choices = [[*_likely(definition, kinds, i)] if k is None else [k] for i, k in numbered]
    filled = replace(op, inputs=tuple(TensorRef(f"{i}") for i in range(len(kinds))))
    first: GradstepError | None = None
    for types in product(*choices):
        try:
            definition.infer(InferContext(definition, filled, types))
        except GradstepError as error:
            first = first or error
        except Exception:
            return None  # the rule needs what only a run knows
        else:
            return None
    return first


def _likely(definition: OpDef, kinds: Kinds, index: int) -> Iterator[TensorType]:
    """What the open input `index` may turn out to be, the likeliest first."""
    specs = [_spec(definition, i, len(kinds)) for i in range(len(kinds))]
    spec, pairs = specs[index], zip(specs, kinds, strict=True)
    if spec.handle:
        yield TensorType(element_type(spec.handle), UNKNOWN, ref=True)
        return
    known = [kind.dtype for other, kind in pairs if kind is not None and not other.takes]
    if spec.like:
        like = next(i for i, other in enumerate(specs) if other.name == spec.like)
        kind = kinds[like]
        known = [*_usual(specs[like].takes), *known] if kind is None else [kind.dtype]
    for dtype in _usual(spec.takes) or dict.fromkeys((*known, *_LIKELY)):
        yield TensorType(dtype, UNKNOWN, ref=True)


def _usual(takes: Sequence[DType]) -> Sequence[DType]:
    """int32 first, where it is among them."""
    return sorted(takes, key=lambda dtype: dtype is not DType.INT32)


def _with_rank(kind: TensorType) -> TensorType:
    """The type, with nothing known of its sizes but how many there are."""
    rank = kind.shape.rank
    return kind if rank is None else replace(kind, shape=Shape((None,) * rank))


def _takes_buffer(definition: OpDef, index: int) -> bool:
    return index < len(definition.inputs) and definition.inputs[index].ref


def _spec(definition: OpDef, index: int, count: int) -> InputSpec:
    name = definition.arity(count)[index].partition("[")[0]
    return next(spec for spec in definition.inputs if spec.name == name)


def _name(op: Operation, index: int, count: int) -> str:
    definition = find(op.type)
    return str(index) if definition is None else definition.arity(count)[index]
