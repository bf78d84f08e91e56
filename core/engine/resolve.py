"""What a plan consists of: steps, the values they read and make, variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.graph.dtypes import SCALAR, DType, TensorType
from core.graph.model import Operation, TensorRef
from core.ops.table import OpDef

COUNTER = TensorType(DType.INT64, SCALAR)


class Value(NamedTuple):
    """One array. `ref` is the tensor it is, or None for a version of `variable`."""

    type: TensorType
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


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What executes one operation; steps are compared by identity, and do not know their place in
    the order. reads, writes: indexes into Plan.values. computes: whether its kernel runs; the
    declaration of a variable and an alias of one have nothing to compute. plain: it can run, and
    neither writes a variable nor stands for one. also: other operations
    whose work passes made part of this step. times: how many like operations it does at once; what
    they read and write stands one after the other in reads and writes."""

    op: Operation
    definition: OpDef | None  # None for an unknown op type, which fails when reached
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    computes: bool
    plain: bool = False
    also: tuple[str, ...] = ()
    times: int = 1

    @property
    def parts(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """What each of the like operations reads and writes."""
        reads, writes = (len(x) // self.times for x in (self.reads, self.writes))
        return [
            (self.reads[i * reads : (i + 1) * reads], self.writes[i * writes : (i + 1) * writes])
            for i in range(self.times)
        ]

    @property
    def keeps_bytes(self) -> bool:
        """Whether its result is its first input, in another shape at most."""
        return self.computes and self.definition is not None and self.definition.keeps_bytes

    def reading(self, reads: tuple[int, ...]) -> Step:
        """The same step on other values. (`replace` would take three times as long.)"""
        rest = self.writes, self.computes, self.plain, self.also, self.times
        return Step(self.op, self.definition, reads, *rest)

    @property
    def calls_python(self) -> bool:
        """Whether it is a user's function."""
        return self.definition is not None and "functions" in self.definition.kernel_keywords


def storage_name(op: Operation) -> str:
    """Name under which a variable's value is kept; several declarations may share one."""
    return str(op.attrs.get("shared_name") or op.name)


def makes_constants(op: Operation, definition: OpDef | None) -> bool:
    """Whether `op` makes the same in every run, from nothing."""
    able = definition is not None and definition.kernel is not None and not op.inputs
    return able and definition is not None and definition.is_pure
