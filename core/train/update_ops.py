"""Building the operations that update variables: slots, hyper-parameters, one op for a variable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Operation, Phase, TensorRef
from gradstep.core.graph.splat_array import splat
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.train.unique_rows import sum_duplicate_rows

Gradient = Tensor | IndexedSlices
Pair = tuple[str, Gradient]  # variable, gradient of the loss with respect to it


@dataclass(frozen=True)
class Updates:
    """What was added. targets: operations that do the updates when run; slots: variable -> its
    slot variables; initial: slot or other new variable -> its value before training."""

    targets: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]
    initial: Mapping[str, np.ndarray]


class Update:
    """The operations of one call of `apply_updates`, in a scope `name`.

    Each belongs to a variable, so that the debugger shows one step for each variable.
    """

    def __init__(self, builder: GraphBuilder, hyper: Mapping[str, float], name: str) -> None:
        self.builder = builder
        self.slots: dict[str, tuple[str, ...]] = {}
        self.initial: dict[str, np.ndarray] = {}
        self._hyper = hyper
        self._reads: dict[TensorRef, Tensor] = {}  # ref variable that is read once -> its read
        self._done: list[str] = []  # operations that update something
        with builder.scope(name) as scope:
            self._scope = scope

    def belongs(self, origin: str) -> None:
        """What is made from here on belongs to the update of `origin`."""
        self.builder.origin, self.builder.phase = origin, Phase.UPDATE

    def number(self, name: str) -> float:
        """The value of a hyper-parameter."""
        return self._hyper[name]

    def hyper(self, *names: str) -> list[Tensor]:
        """Hyper-parameters as constants."""
        with self.builder.scope(self._scope, exact=True):
            return [self.builder.constant(np.float32(self._hyper[n]), name=n) for n in names]

    def power(self, of: str, like: str) -> Tensor:
        """A new variable of the kind of variable `like`, that starts as the hyper-parameter
        `of`."""
        start = np.array(self._hyper[of], np.float32)
        variable = self._variable(f"{of}_power", start, self.builder.operation(like).type)
        if variable.dtype is not DType.RESOURCE:
            self.read_once(variable)
        return variable

    def slot(self, variable: str, name: str, start: float = 0.0) -> Tensor:
        """A new variable, shaped and typed like `variable`, that starts as `start` everywhere."""
        declared = self.builder.operation(variable)
        shape = attribute(declared, "shape", Shape, UNKNOWN)
        if not shape.is_static:
            raise GradstepError(
                f"the shape of variable '{variable}' must be known to train it",
                kind="ValueError",
                node=variable,
                hint="set its shape attribute",
            )
        try:
            first = splat(
                np.array(start, attribute(declared, "dtype", DType).numpy), shape.static()
            )
        except ValueError:  # more bytes than can be counted
            raise GradstepError(
                f"there is no array of shape {shape}",
                kind="ResourceExhaustedError",
                node=variable,
                hint="correct the variable's shape attribute",
            ) from None
        slot = self._variable(f"{variable}/{name}", first, declared.type)
        self.slots[variable] = (*self.slots.get(variable, ()), slot.ref.op)
        return slot

    def apply(
        self,
        type: str,
        variable: str,
        slots: Sequence[Tensor],
        *values: Gradient,
        **attrs: Any,
    ) -> None:
        """The operation that updates `variable` and its `slots`. Among `values`, powers are read,
        scalars that are not of the variable's element type cast to it, and rows summed so that
        each is named once, as TensorFlow does; with rows it is the op's sparse form."""
        target = self.builder.operation(variable)
        rows = any(isinstance(x, IndexedSlices) for x in values)
        prefix = "Resource" if target.type == "VarHandleOp" else ""
        full_type = f"{prefix}{'Sparse' if rows else ''}{type}"
        given: list[Tensor] = []
        with self.updating(variable) as scope:
            for x in values:
                if isinstance(x, IndexedSlices):
                    unique = sum_duplicate_rows(x)
                    given += [unique.values, unique.indices]
                else:
                    given.append(self.cast(self._read(x, full_type), variable))
        inputs = (target.output(), *(x.ref for x in (*slots, *given)))
        self._add(f"{scope}/{full_type}", full_type, inputs=inputs, attrs=attrs)
        self.done(f"{scope}/{full_type}")

    @contextmanager
    def updating(self, variable: str) -> Iterator[str]:
        """Inside, operations are made in the scope of the update of `variable`."""
        with (
            self.builder.scope(self._scope, exact=True),
            self.builder.scope(f"update_{variable}") as scope,
        ):
            yield scope

    def done(self, name: str) -> None:
        """Operation `name` finishes the update of a variable."""
        self._done.append(name)

    def cast(self, x: Tensor, variable: str) -> Tensor:
        """A scalar as TensorFlow hands it to the update of `variable`: of its element type."""
        dtype = attribute(self.builder.operation(variable), "dtype", DType)
        if x.dtype == dtype or x.shape.rank != 0:
            return x
        return self.builder.one("Cast", x, DstT=dtype)

    def read_once(self, variable: Tensor) -> Tensor:
        """The value that a ref variable starts the run with, in the op that all readers share."""
        if variable.ref not in self._reads:
            read = self.builder.one("Identity", variable, name=f"{variable.ref.op}/read")
            self._reads[variable.ref] = read
        return self._reads[variable.ref]

    def value(self, x: Tensor) -> Tensor:
        """The value of a power or a slot, read here if it is a resource."""
        if x.dtype is not DType.RESOURCE:
            return self._reads.get(x.ref, x)
        dtype = attribute(self.builder.operation(x.ref.op), "dtype", DType)
        return self.builder.one("ReadVariableOp", x, dtype=dtype)

    def assign_product(self, power: Tensor, factor: Tensor) -> str:
        """power *= factor, once all variables are updated; the operation's name."""
        builder, last = self.builder, self._done
        with builder.scope(self._scope, exact=True):
            if power.ref in self._reads:
                product = builder.op(
                    "Mul", self._reads[power.ref], factor, name="mul", control_inputs=last
                )
                return builder.one("Assign", power, *product, use_locking=False).ref.op
            read = builder.op("ReadVariableOp", power, dtype=DType.FLOAT32, control_inputs=last)
            product = builder.op("Mul", *read, factor, name="mul")
            name = builder.unique("AssignVariableOp")
        attrs = {"dtype": DType.FLOAT32, "validate_shape": True}
        self._add(name, "AssignVariableOp", inputs=(power.ref, product[0].ref), attrs=attrs)
        return name

    def no_result(self, scope: str, type: str, *inputs: Tensor, **parts: Any) -> str:
        """An operation without outputs in `scope`; its name."""
        with self.builder.scope(scope, exact=True):
            name = self.builder.unique(type)
        self._add(name, type, inputs=tuple(x.ref for x in inputs), **parts)
        return name

    def finish(self, *more: str) -> None:
        """The operation that stands for all updates, named as the scope."""
        self._add(self._scope, "NoOp", control_inputs=tuple(sorted((*self._done, *more))))

    def result(self) -> Updates:
        return Updates((self._scope,), self.slots, self.initial)

    def _variable(self, name: str, value: np.ndarray, type: str = "VariableV2") -> Tensor:
        dtype, shape = DType.of(value.dtype), Shape(tuple(value.shape))
        made = self.builder.one(type, name=name, dtype=dtype, shape=shape)
        self.initial[made.ref.op] = value
        return made

    def _read(self, x: Tensor, scope: str) -> Tensor:
        """`value`, in the scope that TensorFlow's generated functions make for it."""
        if x.dtype is not DType.RESOURCE:
            return self.value(x)
        with self.builder.scope(scope, exact=True):
            return self.value(x)

    def _add(self, name: str, type: str, **parts: Any) -> None:
        """An operation of exactly this name."""
        origin, phase = self.builder.origin, self.builder.phase
        self.builder.add(Operation(name, type, origin=origin, phase=phase, **parts))
