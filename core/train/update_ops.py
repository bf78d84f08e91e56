"""Building the operations that update variables: slots, hyper-parameters, one op for a variable."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.splat_array import element_of, splat
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.build.used_names import TakenNames
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.train.unique_rows import sum_duplicate_rows

Gradient = Tensor | IndexedSlices
Pair = tuple[str, Gradient]  # variable, gradient of the loss with respect to it
Key = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class VariableUpdate:
    """What was made for one variable, for the next time. declared, gradient, kind: what it was made
    of; names: its operations, in order; taken: what else was asked of names; done: those of its
    operations that finish it."""

    declared: Operation
    gradient: TensorRef
    kind: TensorType
    names: tuple[str, ...]
    taken: TakenNames
    slots: tuple[str, ...]
    initial: Mapping[str, np.ndarray]
    done: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class UpdateRecord:
    """How updates were made. graph: where; of: the optimizer, and what all variables share;
    initial: what they all start with."""

    graph: Graph
    of: Key
    by_variable: Mapping[str, VariableUpdate]
    initial: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Updates:
    """What was added. targets: operations that do the updates when run; slots: variable -> its
    slot variables; initial: slot or other new variable -> its value before training; of, made: for
    the record of it."""

    targets: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]
    initial: Mapping[str, np.ndarray]
    of: Key = ()
    made: Mapping[str, VariableUpdate] = field(default_factory=dict)

    def record(self, graph: Graph) -> UpdateRecord:
        """For updates after an edit. graph: what was built with these."""
        return UpdateRecord(graph, self.of, self.made, self.initial)


class Update:
    """The operations of one call of `apply_updates`, in a scope `name`.

    Each belongs to a variable, so that the debugger shows one step for each variable.
    type: the optimizer's. before: how they were made before an edit; those of a variable that would
    come out the same are taken from there, the very same operations.
    """

    def __init__(
        self,
        builder: GraphBuilder,
        hyper: Mapping[str, float],
        name: str,
        type: str = "",
        before: UpdateRecord | None = None,
    ) -> None:
        self.builder = builder
        self._type = type
        self._before = before
        self._of: Key = ()
        self._made: dict[str, VariableUpdate] = {}
        self._known: Mapping[str, VariableUpdate] = {}  # those that may be taken over
        self._shared: list[Tensor] = []  # what the updates of all variables read
        self._again: list[str] = []  # operations that are to be taken over, not there yet
        self.slots: dict[str, tuple[str, ...]] = {}
        self.initial: dict[str, np.ndarray] = {}
        self._hyper = hyper
        self._reads: dict[TensorRef, Tensor] = {}  # ref variable that is read once -> its read
        self._done: list[str] = []  # operations that update something
        with builder.scope(name) as scope:
            self._scope = scope

    def each(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        """The pairs whose updates have to be made, with what is made belonging to them. The first
        always has to: what all share is made with it."""
        builder = self.builder
        for variable, gradient in pairs:
            if self._made_before(variable, gradient):
                continue
            self._flush()
            self.belongs(variable)
            size, done = builder.size, len(self._done)
            builder.names.begin_log()
            yield variable, gradient
            taken = builder.names.end_log()
            if not self._of:
                self._share()
            elif isinstance(gradient, Tensor):
                self._remember(variable, gradient, builder.size - size, done, taken)
        self._flush()
        self.belongs(pairs[-1][0])

    def _share(self) -> None:
        """What all variables share has been made: where it is as before the edit, what follows from
        it may be, too."""
        kinds = ((x.ref, self.builder.type_of(x.ref)) for x in self._shared)
        self._of = (self._type, *self._hyper.items(), self._scope, *kinds)
        if self._before is not None and self._before.of == self._of:
            self._known = self._before.by_variable

    def _remember(
        self, variable: str, gradient: Tensor, made: int, done: int, taken: TakenNames
    ) -> None:
        """Keep how the latest update was made: so many operations, and what is done from number
        `done` on."""
        builder = self.builder
        names = tuple(op.name for op in reversed(builder.latest(made)))
        self._made[variable] = VariableUpdate(
            builder.operation(variable),
            gradient.ref,
            builder.type_of(gradient.ref),
            names,
            taken,
            self.slots.get(variable, ()),
            {name: self.initial[name] for name in names if name in self.initial},
            tuple(self._done[done:]),
        )

    def _made_before(self, variable: str, gradient: Gradient) -> bool:
        """Take over what was made for a variable before the edit, if it would be the same."""
        found, builder = self._known.get(variable), self.builder
        if found is None or not isinstance(gradient, Tensor) or found.gradient != gradient.ref:
            return False
        if found.declared is not builder.operation(variable):
            return False
        if found.kind != builder.type_of(gradient.ref):
            return False
        if not builder.names.take_again(found.taken):
            return False
        self._again += found.names
        self._made[variable] = found
        if found.slots:
            self.slots[variable] = found.slots
        self.initial.update(found.initial)
        self._done += found.done
        return True

    def _flush(self) -> None:
        if self._again and self._before is not None:
            self.builder.repeat(self._before.graph, self._again)
            self._again = []

    def belongs(self, origin: str) -> None:
        """What is made from here on belongs to the update of `origin`."""
        self.builder.origin, self.builder.phase = origin, Phase.UPDATE

    def number(self, name: str) -> float:
        """The value of a hyper-parameter."""
        return self._hyper[name]

    def hyper(self, *names: str) -> list[Tensor]:
        """Hyper-parameters as constants."""
        with self.builder.scope(self._scope, exact=True):
            made = [self.builder.constant(np.float32(self._hyper[n]), name=n) for n in names]
        self._shared += made
        return made

    def power(self, of: str, like: str) -> Tensor:
        """A new variable of the kind of variable `like`, that starts as the hyper-parameter
        `of`."""
        start = np.array(self._hyper[of], np.float32)
        variable = self._variable(f"{of}_power", start, self.builder.operation(like).type)
        self._shared.append(variable)
        if variable.dtype is not DType.RESOURCE:
            self._shared.append(self.read_once(variable))
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
        return Updates((self._scope,), self.slots, self.initial, self._of, self._made)

    def _variable(self, name: str, value: np.ndarray, type: str = "VariableV2") -> Tensor:
        dtype, shape = DType.of(value.dtype), Shape(tuple(value.shape))
        made = self.builder.one(type, name=name, dtype=dtype, shape=shape)
        before = None if self._before is None else self._before.initial.get(made.ref.op)
        if before is not None and _is_same_splat(before, value):
            value = before  # the very same, so that nobody looks at it again
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


def _is_same_splat(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether both are views of one number, the same, in as many places."""
    if (a.dtype, a.shape) != (b.dtype, b.shape) or any((*a.strides, *b.strides)) or not a.size:
        return False
    return element_of(a).tobytes() == element_of(b).tobytes()
