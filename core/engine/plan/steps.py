"""What a plan consists of: steps, the values they read and make, variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradstep.core.engine.plan.liveness_conditions import ALWAYS, Condition, on_values, predicates
from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.ops.state.opaque_state import OpaqueState

if TYPE_CHECKING:
    from gradstep.core.engine.plan.loop_body import Iteration

COUNTER = TensorType(DType.INT64, SCALAR)
OPAQUE = TensorType(DType.RESOURCE, SCALAR)
# These meet a variable that has no value yet without failing.
TAKE_EMPTY = frozenset(
    {"Assign", "AssignVariableOp", "IsVariableInitialized", "VarIsInitializedOp", "RefSwitch"}
)


_VERSION = -1


class PlanValue(NamedTuple):
    """One array: output number `output` of operation `name`, or a version of variable `name`. (A
    tuple of what a TensorRef is of: there are as many as tensors.)"""

    type: TensorType
    name: str = ""
    output: int = _VERSION

    @property
    def ref(self) -> TensorRef | None:
        """The tensor it is; None for a version of a variable."""
        return None if self.output == _VERSION else TensorRef(self.name, self.output)

    @property
    def variable(self) -> str:
        """The variable it is a version of; "" for a tensor."""
        return self.name if self.output == _VERSION else ""


def has_place(value: PlanValue) -> bool:
    """Whether it is known before running how many bytes it takes."""
    return value.type.shape.is_static and not value.type.dtype.numpy.hasobject


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable's storage. `op` is the operation that declares it; `resource`: TensorFlow's
    second kind, whose reads are snapshots; `counter`: no tensor shows it, only `op` reads and
    writes it; `first`: what it holds before any run, where that is no affair of the user's;
    `anew`: every run starts from that."""

    op: str
    type: TensorType
    resource: bool
    counter: bool = False
    first: np.ndarray | OpaqueState | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """Of a step that may be dead, or takes what is alive of its inputs. when: it runs only then;
    inputs: of a Merge, when each of them is alive."""

    when: Condition
    inputs: tuple[Condition, ...] = ()

    @property
    def predicates(self) -> frozenset[int]:
        """The values that it asks."""
        return predicates(self.when).union(*map(predicates, self.inputs))

    @property
    def may_skip(self) -> bool:
        """Whether there are runs without the step."""
        return self.when != ALWAYS

    def on(self, instead: Mapping[int, int]) -> Guard:
        """The same, asking `instead[v]` in place of value `v`."""
        return Guard(
            on_values(self.when, instead), tuple([on_values(x, instead) for x in self.inputs])
        )


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What executes one operation; steps are compared by identity, and do not know their place in
    the order. reads, writes: indexes into Plan.values. computes: whether its kernel runs; the
    declaration of a variable and an alias of one have nothing to compute. plain: it can run, and
    neither writes a variable nor stands for one. also: other operations
    whose work passes made part of this step. times: how many like operations it does at once; what
    they read and write stands one after the other in reads and writes. guard: None where it always
    runs, on all its inputs. iteration: what it runs again and again, if it is a loop; then it reads
    and writes what the iterations do of the variables, after its inputs and outputs."""

    op: Operation
    definition: OpDef | None  # None for an unknown op type, which fails when reached
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    computes: bool
    plain: bool = False
    also: tuple[str, ...] = ()
    times: int = 1
    guard: Guard | None = None
    iteration: Iteration | None = None

    @property
    def needs(self) -> tuple[int, ...]:
        """The values that have to be there: those it reads, and those that say whether it runs."""
        return self.reads if self.guard is None else (*self.reads, *self.guard.predicates)

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
        """Whether each result is its first input, in another shape at most."""
        return self.computes and self.definition is not None and self.definition.memory.keeps_bytes

    def reading(self, reads: tuple[int, ...]) -> Step:
        """The same step on other values. (`replace` would take three times as long.)"""
        rest = self.writes, self.computes, self.plain, self.also, self.times
        return Step(self.op, self.definition, reads, *rest, self.guard, self.iteration)

    @property
    def calls_python(self) -> bool:
        """Whether it is a user's function, or a loop that calls one."""
        if self.iteration is not None:
            return self.iteration.calls_python
        return self.definition is not None and "functions" in self.definition.kernel.keywords


def storage_name(op: Operation) -> str:
    """Name under which a variable's value is kept; several declarations may share one."""
    shared = op.attrs.get("shared_name")
    return str(shared) if shared else op.name


def makes_constants(op: Operation, definition: OpDef | None) -> bool:
    """Whether `op` makes the same in every run, from nothing."""
    able = definition is not None and definition.kernel.plain is not None and not op.inputs
    return able and definition is not None and definition.is_pure
