"""Which value each step reads and makes: tensors and variable versions, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import SCALAR, UNKNOWN, DType, TensorType
from core.graph.model import Operation, TensorRef
from core.ops.infer import Inferrer
from core.ops.table import OpDef, find

COUNTER = TensorType(DType.INT64, SCALAR)


@dataclass(frozen=True, slots=True)
class Value:
    """One array. `step` makes it (-1: it is there when the run starts). `ref` is the tensor it
    is, or None for a version of `variable`."""

    type: TensorType
    step: int
    ref: TensorRef | None = None
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable's storage. `op` is the operation that declares it; `resource`: TensorFlow's
    second kind, whose reads are snapshots; `counter`: no tensor shows it, only `op` reads and
    writes it, and it starts as 0."""

    op: str
    type: TensorType
    resource: bool
    counter: bool = False

    @property
    def first(self) -> np.ndarray | None:
        """What it holds before any run, where that is no affair of the user's."""
        return np.zeros((), COUNTER.dtype.numpy) if self.counter else None


@dataclass(frozen=True, slots=True)
class Step:
    """One operation at its place in the order. reads, writes: indexes into Plan.values.
    computes: whether its kernel runs; the declaration of a variable and an alias of one have
    nothing to compute."""

    index: int
    op: Operation
    definition: OpDef | None  # None for an unknown op type, which fails when reached
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    computes: bool


def storage_name(op: Operation) -> str:
    """Name under which a variable's value is kept; several declarations may share one."""
    return str(op.attrs.get("shared_name") or op.name)


class Resolver:
    """Takes the needed operations in order; collects steps, values and variable versions."""

    def __init__(self, fed: Mapping[TensorRef, TensorType]) -> None:
        self.fed = fed
        self.steps: list[Step] = []
        self.values: list[Value] = []
        self.tensors: dict[TensorRef, int | str] = {}
        self.variables: dict[str, Variable] = {}
        self.versions: dict[str, list[int]] = {}
        self.failures: dict[int, GradstepError] = {}
        self.broken: set[str] = set()  # operations whose outputs are unknown
        self._inferrer = Inferrer()
        for ref, kind in fed.items():
            self.tensors[ref] = self._value(Value(kind, -1, ref))
            self._inferrer.types[ref] = kind

    def add(self, op: Operation) -> None:
        """Append the step that executes `op`."""
        definition = find(op.type)
        try:
            outputs = self._infer(op)
            reads, writes, computes = self._resolve(op, definition, outputs)
        except GradstepError as error:
            if self.fed:  # what was drawn fits; what is fed does not
                error.as_kind("ValueError", "InvalidArgumentError")
            self.failures[len(self.steps)] = error.at(op.name)
            self.broken.add(op.name)
            reads, writes, computes = (), (), False
        self.steps.append(Step(len(self.steps), op, definition, reads, writes, computes))

    def _infer(self, op: Operation) -> tuple[TensorType, ...]:
        outputs = self._inferrer.infer(op)
        for ref in map(op.output, range(len(outputs))):
            if ref in self.fed:  # it runs for a control dependency; its readers see the feed
                self._inferrer.types[ref] = self.fed[ref]
                self._inferrer.constants.pop(ref, None)
        return outputs

    def _resolve(
        self, op: Operation, definition: OpDef | None, outputs: tuple[TensorType, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
        """What the step reads and writes, and whether it computes."""
        assert definition is not None  # inference refuses unknown op types
        if definition.kernel is None:
            self._without_kernel(op, outputs)
            return (), (), False
        sources = [self._source(ref) for ref in op.inputs if ref is not None]
        reads = tuple(s if isinstance(s, int) else self.versions[s][-1] for s in sources)
        written = [self._written(op, sources, i) for i in definition.writes]
        alias = None if definition.aliases is None else sources[definition.aliases]
        if isinstance(alias, str):
            self._stand_for(op.output(), alias)
            if not written:
                return reads, (), False
        made = () if isinstance(alias, str) else outputs
        counted = [self._counter(op)] if definition.counter else []
        reads += tuple(self.versions[name][-1] for name in counted)
        results = tuple(self._output(op, i, kind) for i, kind in enumerate(made))
        return reads, (*results, *(self._new_version(n) for n in (*written, *counted))), True

    def _without_kernel(self, op: Operation, outputs: tuple[TensorType, ...]) -> None:
        if not outputs:
            return
        if outputs[0].ref or outputs[0].dtype is DType.RESOURCE:
            self._declare(op, outputs[0])
        elif op.type == "Placeholder":
            self._output(op, 0, outputs[0])  # its readers can be laid out; the step fails first
            raise _unfed(op, outputs[0])
        else:
            raise GradstepError(f"{op.type} cannot be executed", kind="UnimplementedError")

    def _declare(self, op: Operation, handle: TensorType) -> None:
        """A variable's declaration: its output stands for the storage of that name."""
        name = storage_name(op)
        self._stand_for(op.output(), name)
        if name in self.variables:
            return
        dtype = DType(op.attrs.get("dtype", handle.dtype))
        kind = TensorType(dtype, op.attrs.get("shape", UNKNOWN))
        self._store(name, Variable(op.name, kind, not handle.ref))

    def _counter(self, op: Operation) -> str:
        """The storage of what `op` counts; no operation can have its name."""
        name = f"{op.name}:counter"
        self._store(name, Variable(op.name, COUNTER, resource=False, counter=True))
        return name

    def _store(self, name: str, variable: Variable) -> None:
        self.variables[name] = variable
        self.versions[name] = [self._value(Value(variable.type, -1, variable=name))]

    def _written(self, op: Operation, sources: list[int | str], index: int) -> str:
        source = sources[index]
        if isinstance(source, str):
            return source
        raise GradstepError(
            f"Input {index} of {op.type} '{op.name}' must be a variable",
            kind="InvalidArgumentError",
            hint="wire it to a variable that is not fed",
        )

    def _source(self, ref: TensorRef) -> int | str:
        if ref not in self.tensors:
            raise GradstepError(f"'{ref}' has no value", kind="FailedPreconditionError")
        return self.tensors[ref]

    def _stand_for(self, ref: TensorRef, variable: str) -> None:
        self.tensors.setdefault(ref, variable)  # unless it is fed

    def _new_version(self, variable: str) -> int:
        kind = self.variables[variable].type
        index = self._value(Value(kind, len(self.steps), variable=variable))
        self.versions[variable].append(index)
        return index

    def _output(self, op: Operation, index: int, kind: TensorType) -> int:
        ref = op.output(index)
        value = self._value(Value(kind, len(self.steps), ref))
        self.tensors.setdefault(ref, value)  # a fed tensor keeps what was fed
        return value

    def _value(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1


# TensorFlow's names for element types, where they differ from NumPy's.
_DATA_TYPE = {"float16": "half", "float32": "float", "float64": "double"}


def _unfed(op: Operation, kind: TensorType) -> GradstepError:
    """TensorFlow's words; it says nothing of a scalar's or an unknown shape."""
    dtype = _DATA_TYPE.get(kind.dtype.value, kind.dtype.value)
    shape = f" and shape {str(kind.shape).replace(' ', '')}" if kind.shape.dims else ""
    return GradstepError(
        f"You must feed a value for placeholder tensor '{op.name}' with dtype {dtype}{shape}",
        kind="InvalidArgumentError",
        hint=f"feed {op.name}",
    )
