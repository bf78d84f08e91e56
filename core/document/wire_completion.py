"""Adding a node to a wire that was dropped in the air, at whichever end it is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.document import document_edits
from gradstep.core.document.declared_types import declared_types
from gradstep.core.document.document import Document
from gradstep.core.document.value_edits import fresh_attrs, set_feed, set_initial
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits as graph_edits
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import Constant, Edge, Operation, TensorRef
from gradstep.core.graph.problems import UNFINISHED
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.table import OpDef, lookup
from gradstep.core.ops.typing.flatten_loops import original_edge
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.input_fit import cast_that_fits, misfit, taken_types
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes

Point = tuple[float, float]

_AXIS = ("axis", "dim", "indices")  # ends of the names of inputs that are 0 to begin with
_MOST_AXES = 5


def add_reader(
    document: Document,
    type: str,
    at: Point,
    source: TensorRef,
    name: str = "",
    attrs: Mapping[str, Any] | None = None,
    beside: str = "",
) -> tuple[Document, str]:
    """Add a node that reads `source` through the first of its inputs that can; in the loop that
    `beside` is in, if not that of `source`. Raises GradstepError where none can."""
    kind = declared_types(document).get(source)
    index = first_fit(lookup(type), kind)
    document, chosen = document_edits.add_operation(
        document, type, at, name, attrs, beside or source.op
    )
    if index is None:
        raise GradstepError(
            f"{type} has no input that takes '{source.short}', {kind}",
            kind="ValueError",
            hint="put a Cast or a Reshape before it",
        )
    return document_edits.connect(document, source, Edge(chosen, index)), chosen


def add_cast(document: Document, source: TensorRef, edge: Edge) -> tuple[Document, str]:
    """Wire `source` into `edge` with a Cast between them, to an element type that fits there.
    Raises GradstepError where none helps."""
    edge = original_edge(document.graph, edge)
    wanted = cast_that_fits(document.graph, declared_types(document), source, edge)
    if wanted is None:
        raise GradstepError(
            f"no Cast makes '{source.short}' fit there", kind="ValueError", node=edge.op
        )
    attrs = {"DstT": wanted}
    document, cast = document_edits.add_operation(
        document, "Cast", None, attrs=attrs, beside=source.op
    )
    document = document_edits.connect(document, source, Edge(cast, 0))
    return document_edits.connect(document, TensorRef(cast), edge), cast


def first_fit(definition: OpDef, kind: TensorType | None) -> int | None:
    """The first input of a new node that takes a tensor of this type; None if none does. What has
    no type yet goes into the first."""
    count = sum(2 if spec.variadic else 1 for spec in definition.inputs)
    op = Operation("new", definition.type, attrs=fresh_attrs(definition))
    for index in range(count):
        kinds = [kind if i == index else None for i in range(count)]
        if misfit(op, index, kinds) is None:
            return index
    return None


def add_source(document: Document, type: str, at: Point, edge: Edge) -> tuple[Document, str]:
    """Add a node whose first output goes into `edge`, in the loop that this is in: of an element
    type that it takes; a constant, placeholder or variable of a shape and value with which the
    reader has no problem, as far as there is a simple one. Raises GradstepError where the output
    cannot go there."""
    edge = original_edge(document.graph, edge)
    refusal: GradstepError | None = None
    second: tuple[Document, str] | None = None  # what goes in, but is a problem there
    for made, name in _candidates(document, type, at, edge):
        try:
            wired = document_edits.connect(made, TensorRef(name), edge)
        except GradstepError as error:
            refusal = refusal or error
            continue
        second = second or (wired, name)
        wrong = (p for p in infer_declared(wired.graph).problems if p.node == edge.op)
        if all(p.code in UNFINISHED for p in wrong):
            return wired, name
    if second is not None:
        return second
    assert refusal is not None  # there is at least one candidate
    raise refusal


def _candidates(
    document: Document, type: str, at: Point, edge: Edge
) -> Iterator[tuple[Document, str]]:
    """The document with a new node, in one way after another, the likeliest first."""
    definition = lookup(type)
    for attrs in _attributes(definition, _wanted(document, edge)):
        made, name = document_edits.add_operation(document, type, at, attrs=attrs, beside=edge.op)
        op = anywhere(made.graph, name)
        if type not in ("Const", "Placeholder", *VARIABLES):
            yield made, name
            continue
        for array in first_values(document, edge, DType(op.attrs["dtype"])):
            yield _valued(made, op, array), name


def _wanted(document: Document, edge: Edge) -> list[DType]:
    """The element types that `edge` takes, the likeliest first."""
    op, types = anywhere(document.graph, edge.op), declared_types(document)
    kinds = [_type(types, ref) for ref in op.inputs]
    kinds[edge.index : edge.index + 1] = [None]  # it may be one more of many
    return [*taken_types(op, edge.index, kinds)]


def _attributes(definition: OpDef, wanted: Iterable[DType]) -> Iterator[dict[str, Any]]:
    """Attributes to try: each element type that is wanted, where the op has one to choose."""
    chosen = [n for n, kind in definition.attrs.items() if kind is DType or isinstance(kind, DType)]
    allowed = definition.choices.get(chosen[0]) if chosen else None
    for dtype in wanted if len(chosen) == 1 else ():
        if dtype is not DType.RESOURCE and (allowed is None or dtype in allowed):
            yield {chosen[0]: dtype}
    yield {}


def _valued(document: Document, op: Operation, array: np.ndarray) -> Document:
    held: dict[str, Any] = {"shape": Shape(array.shape)}
    if op.type == "Const":
        held = {"value": Constant(array)}
    graph = graph_edits.set_attrs(document.graph, op.name, {**op.attrs, **held})
    document = replace(document, graph=graph)
    if op.type == "Const":
        return document
    if op.type == "Placeholder":
        return set_feed(document, f"{op.name}:0", array)
    return set_initial(document, op.name, array)


# -- values to begin with ------------------------------------------------------------------------


def first_values(document: Document, edge: Edge, dtype: DType) -> Iterator[np.ndarray]:
    """What a new tensor into `edge` may be, the simplest first: by what the input is for, by what
    the operation has besides, then of any rank."""
    op, types = anywhere(document.graph, edge.op), declared_types(document)
    kinds = [kind for ref in op.inputs if (kind := _type(types, ref)) is not None]
    shapes = [kind.shape.static() for kind in kinds if kind.shape.is_static]
    one: Any = b"" if dtype is DType.STRING else 1
    if dtype.is_integer:
        rank = next((kind.shape.rank for kind in kinds if kind.shape.rank), 1)
        yield from (value.astype(dtype.numpy) for value in _positions(op, edge.index, rank, shapes))
    yield np.full((), one, dtype.numpy)
    for shape in shapes:
        yield np.full(shape, one, dtype.numpy)
        yield np.full(shape[::-1], one, dtype.numpy)
    yield from (np.full((1,) * rank, one, dtype.numpy) for rank in range(1, _MOST_AXES))


def _positions(
    op: Operation, index: int, rank: int, shapes: Sequence[tuple[int, ...]]
) -> Iterator[np.ndarray]:
    """Axes, sizes, paddings, indices: values that change little of a tensor of this rank. How many
    axes they have themselves, the op's sample tells."""
    name, sample = _sampled(op, index)
    if name.endswith(_AXIS):
        yield np.array(0)
    if not any(spec.host for spec in lookup(op.type).inputs if spec.name == name):
        yield from (np.zeros(shape[: sample.ndim]) for shape in shapes)
        yield np.zeros((1,) * sample.ndim)
        return
    if sample.ndim == 0:
        yield sample
    if sample.ndim == 1:
        yield from _vectors(name, rank, shapes)
    yield np.zeros((rank, 2))
    yield np.array([0])


def _vectors(name: str, rank: int, shapes: Iterable[tuple[int, ...]]) -> Iterator[np.ndarray]:
    if "perm" in name:
        yield np.arange(rank)
    if name.startswith(("begin", "shift")):
        yield np.zeros(rank)
    if name == "shape":
        yield np.array([-1])
    if name.startswith(("size", "end")):
        yield np.full(rank, -1)
    if name in ("shape", "dims"):
        yield from map(np.array, shapes)
    yield np.ones(rank)


def _sampled(op: Operation, index: int) -> tuple[str, np.ndarray]:
    """The name of an input, and what it is in the first of the op's samples."""
    definition = lookup(op.type)
    name = definition.arity(max(len(op.inputs), index + 1))[index].partition("[")[0]
    samples = definition.samples(np.random.default_rng(0)) if definition.samples else ()
    for sample in samples:
        names = [n.partition("[")[0] for n in definition.arity(len(sample.inputs))]
        if name in names:
            return name, np.asarray(sample.inputs[names.index(name)])
    return name, np.array(1)


def _type(types: TensorTypes, ref: TensorRef | None) -> TensorType | None:
    return None if ref is None else types.get(ref)
