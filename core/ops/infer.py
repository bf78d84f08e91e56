"""Static types of every tensor in a graph, and the problems that stand in their way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import TensorType
from core.graph.model import Constant, Graph, Operation, TensorRef
from core.graph.problems import Problem
from core.ops.attribute_kinds import check_attributes
from core.ops.table import InferContext, find, lookup

_SMALL = 64  # elements; larger constants are never shapes, axes or sizes


@dataclass(frozen=True)
class Inference:
    """Types of the tensors that could be typed, small values known before running, problems."""

    types: Mapping[TensorRef, TensorType]
    constants: Mapping[TensorRef, np.ndarray]
    problems: tuple[Problem, ...]


class Inferrer:
    """Types operations one by one, in an order in which inputs come first."""

    def __init__(self) -> None:
        self.types: dict[TensorRef, TensorType] = {}
        self.constants: dict[TensorRef, np.ndarray] = {}

    def infer(self, op: Operation) -> tuple[TensorType, ...]:
        """Types of `op`'s outputs, remembered. Raises GradstepError located at `op`."""
        definition = lookup(op.type, op.name)
        if None in op.inputs:
            names = definition.arity(len(op.inputs))
            missing = names[op.inputs.index(None)]
            raise GradstepError(
                f"input '{missing}' is not connected",
                kind="ValueError",
                node=op.name,
                hint="drag a wire to it, or delete the node",
            )
        refs = [ref for ref in op.inputs if ref is not None]
        try:
            definition.arity(len(refs))
            check_attributes(definition, op)
            types = [self._type(ref) for ref in refs]
            context = InferContext(definition, op, types, lambda i: self.constants.get(refs[i]))
            result = definition.infer(context)
        except Exception as error:
            raise _located(error, op) from None
        outputs = result if isinstance(result, tuple) else (result,)
        for index, kind in enumerate(outputs):
            self.types[TensorRef(op.name, index)] = kind
        self._fold(op, refs, outputs)
        return outputs

    def _type(self, ref: TensorRef) -> TensorType:
        try:
            return self.types[ref]
        except KeyError:
            raise GradstepError(
                f"'{ref}' is not a tensor of this graph", kind="KeyError", hint="check its index"
            ) from None

    def _fold(self, op: Operation, refs: list[TensorRef], outputs: tuple[TensorType, ...]) -> None:
        value = _known_value(
            op, [self.constants.get(r) for r in refs], [self.types[r] for r in refs]
        )
        if value is not None and value.size <= _SMALL and outputs:
            self.constants[op.output()] = value


def infer(graph: Graph) -> Inference:
    """Type the whole graph; never raises: what is wrong comes back as problems at the nodes."""
    inferrer = Inferrer()
    problems: list[Problem] = []
    broken: set[str] = set()
    try:
        order = graph.order
    except GradstepError as error:
        return Inference({}, {}, (Problem.of(error, "cycle"),))
    for name in order:
        op = graph[name]
        if any(ref is not None and ref.op in broken for ref in op.inputs):
            broken.add(name)  # said once, where it starts
            continue
        dangling = next((r for r in op.inputs if r is not None and r.op not in graph), None)
        if dangling is not None:
            problems.append(
                Problem(name, "dangling", f"input {dangling} does not exist", "rewire it")
            )
            broken.add(name)
            continue
        problems += [
            Problem(name, "dangling", f"waits for '{other}', which does not exist", "remove that")
            for other in op.control_inputs
            if other not in graph
        ]
        try:
            inferrer.infer(op)
        except GradstepError as error:
            problems.append(Problem.of(error, _code(op, error)))
            broken.add(name)
    return Inference(inferrer.types, inferrer.constants, tuple(problems))


def _located(error: Exception, op: Operation) -> GradstepError:
    """What a type rule failed with, at `op`. Of a constant or an attribute that no rule foresaw,
    Python's own complaint."""
    if isinstance(error, GradstepError):
        return error.as_kind("InvalidArgumentError", "ValueError").at(op.name)
    text = " ".join(str(error).split()) or type(error).__name__
    return GradstepError(
        f"{op.type} cannot be typed: {text}",
        kind="ValueError",
        node=op.name,
        hint="check its attributes and constant inputs",
    )


def _code(op: Operation, error: GradstepError) -> str:
    if find(op.type) is None:
        return "unknown-op"
    return "unconnected" if None in op.inputs else "shape"


def _known_value(op: Operation, inputs: list[Any], types: list[TensorType]) -> np.ndarray | None:
    """The value of output 0 when it does not depend on what is fed: shapes, axes, sizes."""
    if op.type == "Const":
        value = op.attrs.get("value")
        return value.array if isinstance(value, Constant) else None
    if op.type in ("Shape", "Size", "Rank"):
        return _static_shape_value(op, types[0])
    if op.type == "PlaceholderWithDefault":
        return None  # made to be fed with something else
    definition = lookup(op.type)
    kernel = definition.kernel
    if kernel is None or not definition.is_pure or not inputs or any(v is None for v in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = kernel(np, *inputs, **definition.keywords(op))
        value = np.asarray(result[0] if isinstance(result, tuple) else result)
    except (GradstepError, ValueError, IndexError, TypeError):
        return None  # the run will say what is wrong, with the values
    return value if value.dtype.kind in "iub" else None  # only integers are shapes or axes


def _static_shape_value(op: Operation, kind: TensorType) -> np.ndarray | None:
    shape = kind.shape
    dtype = np.dtype(str(op.attrs.get("out_type", "int32")))
    if op.type == "Rank":
        return None if shape.rank is None else np.array(shape.rank, np.int32)
    if not shape.is_static:
        return None
    if op.type == "Size":
        return np.array(int(np.prod(shape.static(), dtype=np.int64)), dtype)
    return np.array(shape.static(), dtype)
