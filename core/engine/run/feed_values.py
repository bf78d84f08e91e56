"""Values fed to a run, checked and converted as TensorFlow's Session.run does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.loop import out_of_reach
from gradstep.core.graph.model import Graph, TensorRef, unknown_name
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.build.constant_cast import convert_given
from gradstep.core.ops.build.python_values import as_array
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import infer_declared

_NO_NUMBERS = (DType.STRING, DType.RESOURCE, DType.VARIANT)


def feed_arrays(graph: Graph, feeds: Mapping[Any, Any]) -> dict[TensorRef, np.ndarray]:
    """`feeds` (tensor or its name -> anything NumPy can make an array of) as arrays of the
    tensors' element types and shapes. Raises GradstepError with TensorFlow's words."""
    return _arrays(graph, feeds, lambda ref, kind, value: value)


def given_feeds(graph: Graph, feeds: Mapping[Any, Any]) -> dict[TensorRef, np.ndarray]:
    """`feed_arrays` for what people give by hand, in a file or from a script: TensorFlow cuts
    fractions off, wraps whole numbers round and lets large ones become infinite; here that is
    refused. Raises GradstepError."""
    return _arrays(graph, feeds, _exact)


def _arrays(
    graph: Graph,
    feeds: Mapping[Any, Any],
    prepare: Callable[[TensorRef, TensorType | None, Any], Any],
) -> dict[TensorRef, np.ndarray]:
    """prepare: gives what a value is converted from. Raises GradstepError."""
    if not isinstance(feeds, Mapping):
        raise GradstepError(
            "FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, "
            f"instead of '{type(feeds).__name__}'.",
            kind="TypeError",
            hint="give feeds as {tensor or its name: value}",
        )
    arrays: dict[TensorRef, np.ndarray] = {}
    for key, value in feeds.items():
        ref = fed_tensor(key)
        kind = fed_type(graph, ref)
        arrays[ref] = convert_feed(ref, kind, prepare(ref, kind, value))
    return arrays


def _exact(ref: TensorRef, kind: TensorType | None, value: Any) -> Any:
    """`value` as numbers that the tensor has; as it is where that is not about numbers. Raises
    GradstepError."""
    if kind is None or kind.dtype in _NO_NUMBERS:
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        return value
    letter = kind_of(array.dtype)
    if letter not in "biufcSU":
        return value
    if array.dtype == kind.dtype.numpy:  # it is copied once, as it is fed
        return array
    if letter in "SU":  # texts, which may be numbers
        array = array.astype(object)
    try:
        found = convert_given(array, kind.dtype)
        return value if isinstance(value, int) else found  # TensorFlow looks at these itself
    except GradstepError as error:
        error.hint = _number_that_fits(kind, ref)
        raise error.at(ref.op) from None


def _number_that_fits(kind: TensorType, ref: TensorRef) -> str:
    return f"feed a number that {kind.dtype.value} has, or change the dtype of '{ref.op}'"


def fed_tensor(key: Any) -> TensorRef:
    """The tensor that the key of a feed means. Raises GradstepError."""
    ref = TensorRef.parse(key) if isinstance(key, str) else key
    if isinstance(ref, TensorRef):
        return ref
    raise GradstepError(
        "Cannot interpret feed_dict key as Tensor: Can not convert a "
        f"{type(key).__name__} into a Tensor.",
        kind="TypeError",
        hint="a feed's key is a tensor or its name",
    )


def convert_feed(ref: TensorRef, kind: TensorType | None, value: Any) -> np.ndarray:
    """`value` as a new array such as is fed to `ref`, declared as `kind`. Raises GradstepError."""
    array = _converted(ref, kind, value)
    require_fed_shape(ref, kind, array.shape)
    return array


def require_fed_shape(ref: TensorRef, kind: TensorType | None, shape: tuple[int, ...]) -> None:
    """Raise GradstepError where a tensor declared as `kind` cannot be fed a value of `shape`."""
    if kind is not None and not kind.shape.accepts(shape):
        raise GradstepError(
            f"Cannot feed value of shape {shape} for Tensor {ref}, "
            f"which has shape {_python_shape(kind.shape)}",
            kind="ValueError",
            node=ref.op,
            hint=_other_shape(ref.op, kind.shape, shape),
        )


def _other_shape(name: str, declared: Shape, shape: tuple[int, ...]) -> str:
    """What to do where `shape` is fed to what is `declared` otherwise."""
    if declared.lacks_rows_only(shape):
        rows = next(iter(declared))
        return f"feed {rows} rows, or give '{name}' the shape {declared.any_rows()}, of any number"
    return f"reshape the value, or change the shape attribute of '{name}'"


def infer_fed_types(arrays: Mapping[TensorRef, np.ndarray]) -> dict[TensorRef, TensorType]:
    """The types of what is really fed."""
    return {ref: TensorType(DType.of(a.dtype), Shape(a.shape)) for ref, a in arrays.items()}


def missing_tensor(graph: Graph, ref: TensorRef) -> str | None:
    """TensorFlow's sentence for a reference to nothing; None when the tensor exists."""
    start = f"The name '{ref}' refers to a Tensor which does not exist. The operation, '{ref.op}', "
    if ref.op not in graph:
        return start + "does not exist in the graph."
    types, count = infer_declared(graph).types, 0
    while TensorRef(ref.op, count) in types:
        count += 1
    definition = find(graph[ref.op].type)
    broken = count == 0 and (definition is None or len(definition.outputs) > 0)
    if ref.index < count or broken:  # a broken operation is blamed for what is wrong with it
        return None
    return start + f"exists but only has {count} outputs."


def instead_of(graph: Graph, ref: TensorRef) -> str:
    """What a reference to nothing may have meant."""
    if ref.op in graph:
        first = TensorRef(ref.op) in infer_declared(graph).types
        return f"its outputs are numbered from '{ref.op}:0'" if first else "it has no outputs"
    return unknown_name(ref.op, graph.operations).hint


def fed_type(graph: Graph, ref: TensorRef) -> TensorType | None:
    """What a tensor that is fed is declared as; None where nobody knows. Raises GradstepError with
    TensorFlow's words where there is no such tensor."""
    missing = missing_tensor(graph, ref)
    if missing is not None and (inside := out_of_reach(graph, ref.op)) is not None:
        raise GradstepError(
            f"Tensor {ref} may not be fed.", kind="ValueError", node=ref.op, hint=inside.hint
        )
    if missing is not None:
        raise GradstepError(
            f"Cannot interpret feed_dict key as Tensor: {missing}",
            kind="TypeError",
            node=ref.op,
            hint=instead_of(graph, ref),
        )
    kind: TensorType | None = infer_declared(graph).types.get(ref)
    return kind


def _converted(ref: TensorRef, kind: TensorType | None, value: Any) -> np.ndarray:
    if kind is None:  # nobody knows what it should be: as in a graph
        return as_array(value, None)
    dtype = kind.dtype.numpy
    if kind.dtype in (DType.RESOURCE, DType.VARIANT):
        raise GradstepError(
            f"Tensor {ref} holds a {kind.dtype.value}, which nobody can write down.",
            kind="TypeError",
            node=ref.op,
            hint="feed a tensor that is computed from what it stands for",
        )
    if kind.dtype is DType.STRING:
        return _texts(ref, value)
    try:
        with np.errstate(all="ignore"):
            array = np.array(value, dtype=dtype)
        changed = isinstance(value, int) and array.item() != value
    except OverflowError:
        changed = True
    except (ValueError, TypeError) as error:
        hint = f"'{ref.op}' takes {kind.dtype.value}, in rows of one length"
        raise GradstepError(str(error), kind="ValueError", node=ref.op, hint=hint) from error
    if changed:
        raise GradstepError(
            f"Type of feed value {value} with type {type(value)} is not compatible with Tensor "
            f"type {dtype.type}. Try explicitly setting the type of the feed tensor to a larger "
            "type (e.g. int64).",
            kind="TypeError",
            node=ref.op,
            hint=_number_that_fits(kind, ref),
        )
    return array


def _texts(ref: TensorRef, value: Any) -> np.ndarray:
    array = np.array(value, dtype=object)
    if all(isinstance(text, str | bytes) for text in array.ravel()):
        return array
    raise GradstepError(
        "Unable to get element as bytes.",
        kind="TypeError",
        node=ref.op,
        hint=f"'{ref.op}' holds text: feed it strings",
    )


def _python_shape(shape: Shape) -> str:
    sizes = ["?" if d is None else str(d) for d in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"
