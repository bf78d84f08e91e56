"""Building the operations that update variables: slots, hyper-parameters, one op for a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, repeat
from operator import and_, attrgetter, eq, is_, not_
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.splat_array import element_of, splat
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.build.rebuilding import Rebuilder
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.train.rate_schedule import schedule_rate
from gradstep.core.train.training_settings import NO_SETTINGS, Settings
from gradstep.core.train.unique_rows import sum_duplicate_rows
from gradstep.core.train.update_reuse import (
    NOTHING_MADE,
    Given,
    Key,
    MadeOperations,
    UpdateRecord,
    VariableUpdate,
)

Gradient = Tensor | IndexedSlices
Pair = tuple[str, Gradient]  # variable, gradient of the loss with respect to it

# Of a VariableUpdate.
_DECLARED, _GRADIENT, _MADE, _DONE = map(attrgetter, ("declared", "gradient", "made", "done"))
_SLOTS = attrgetter("slots")
_INITIAL: Callable[[VariableUpdate], dict[str, np.ndarray]] = attrgetter("initial")
_ASKED = attrgetter("made.taken.asked")
_NO_TENSOR = object()


@dataclass(frozen=True)
class Updates:
    """What was added. targets: operations that do the updates when run; variables: what they
    update; slots: variable -> its slot variables; initial: slot or other new variable -> its value
    before training; order: all that was made, in order; rate: the learning rate; of, first, made,
    last, are_apart: for the record."""

    targets: tuple[str, ...]
    variables: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]
    initial: Mapping[str, np.ndarray]
    order: list[str]
    of: Key
    first: MadeOperations
    made: Mapping[str, VariableUpdate]
    last: MadeOperations
    rate: TensorRef | None = None

    @cached_property
    def asked(self) -> frozenset[str]:
        """All names that were asked for."""
        made = (self.first, *(update.made for update in self.made.values()), self.last)
        return frozenset(chain.from_iterable(each.taken.asked for each in made))

    def record(self, graph: Graph, base: Graph, given: Given | None = None) -> UpdateRecord | None:
        """For updates after an edit; None where a variable is updated twice. graph: what was built
        with these; base: upon which graph; given: of what, where that was all."""
        if len(self.made) < len(self.variables):
            return None
        (scope,) = self.targets
        parts = self.first, self.made, self.last, self.initial
        return UpdateRecord(graph, base, scope, self.of, *parts, self, given)


class Update:
    """The operations of one call of `apply_updates`, in a scope `name`.

    Each belongs to a variable, so that the debugger shows one step for each variable.
    type: the optimizer's. before: how they were made before an edit; where `builder` goes on from
    that, those of a variable that would come out the same stay.
    """

    def __init__(
        self,
        builder: GraphBuilder,
        hyper: Mapping[str, float],
        name: str,
        type: str = "",
        before: UpdateRecord | None = None,
        settings: Settings = NO_SETTINGS,
    ) -> None:
        self.builder = builder
        self._settings = settings
        self._gradient: Gradient | None = None  # of the variable whose update is being made
        self._step: Tensor | None = None  # how many updates there were, where the rate hangs on it
        self._type = type
        self._before = before
        self._again = before if isinstance(builder, Rebuilder) else None
        self._of: Key = ()
        self._first = MadeOperations(tuple(builder.made_since(0)), builder.names.end_log())
        self._made: dict[str, VariableUpdate] = {}
        self._parts = [self._first]  # all that is made, in order
        self._known: Mapping[str, VariableUpdate] = self._again.by_variable if self._again else {}
        self._new_names = builder.new_names if isinstance(builder, Rebuilder) else set()
        self._shared: list[Tensor] = []  # what the updates of all variables read
        self.slots: dict[str, tuple[str, ...]] = {}
        self.initial: dict[str, np.ndarray] = {}
        self._hyper = hyper
        self._rate: TensorRef | None = None
        self._reads: dict[TensorRef, Tensor] = {}  # ref variable that is read once -> its read
        self._done: list[str] = []  # operations that update something
        name = self._again.scope if self._again else name
        with builder.scope(name, exact=self._again is not None) as scope:
            self._scope = scope

    def each(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        """The pairs whose updates have to be made, with what is made belonging to them. The first
        always has to: what all share is made with it."""
        builder, known = self.builder, self._known
        self._variables = tuple([variable for variable, _ in pairs])
        if known and self._again and not self._again.are_apart(self._variables):
            builder.names.met_kept = True
        for variable in known.keys() - self._variables:
            self._drop(variable)
        yield from self._make(*pairs[0], shares=True)
        self._share()
        kept, done = [*map(self._known.get, self._variables, repeat(NOTHING_MADE))], 1
        for place in self._find_others(pairs, kept) if self._known else range(1, len(pairs)):
            self._keep(kept, done, place)
            yield from self._make(*pairs[place])
            done = place + 1
        self._keep(kept, done, len(pairs))
        self.belongs(pairs[-1][0])
        self._size = builder.size
        builder.names.begin_log()

    def _make(self, variable: str, gradient: Gradient, shares: bool = False) -> Iterator[Pair]:
        """The pair itself, for its update to be made. shares: what all share is made with it."""
        builder = self.builder
        self._drop(variable)
        self.belongs(variable)
        if variable in self._made:
            builder.names.met_kept = True
        size, done = builder.size, len(self._done)
        builder.names.begin_log()
        self._gradient = gradient
        yield variable, gradient
        apart = None if shares or not isinstance(gradient, Tensor) else gradient
        made = MadeOperations(tuple(builder.made_since(size)), builder.names.end_log())
        self._parts.append(made)
        self._made[variable] = VariableUpdate(
            builder.operation(variable),
            None if apart is None or made.taken.met_others else apart.ref,
            None if apart is None else builder.type_of(apart.ref),
            made,
            self.slots.get(variable, ()),
            {name: self.initial[name] for name in made.names if name in self.initial},
            tuple(self._done[done:]),
        )

    def _keep(self, kept: Sequence[VariableUpdate], start: int, stop: int) -> None:
        """Of the variables from `start` to `stop` all stays that was made before the edit."""
        these = kept[start:stop]
        self._made.update(zip(self._variables[start:stop], these, strict=True))
        self._parts += map(_MADE, these)
        self._done += chain.from_iterable(map(_DONE, these))

    def _share(self) -> None:
        """What all variables share has been made: where it is as before the edit, what follows from
        it may be, too."""
        kinds = ((x.ref, self.builder.type_of(x.ref)) for x in self._shared)
        self._of = (self._type, *self._hyper.items(), self._scope, repr(self._settings), *kinds)
        if self._again is not None and self._again.of != self._of:
            for variable in self._variables:  # what is of others is gone already
                if variable not in self._made:
                    self._drop(variable)
            self._known = {}

    def _find_others(self, pairs: Sequence[Pair], kept: Sequence[VariableUpdate]) -> Sequence[int]:
        """The places, behind the first, of variables of which what was made before the edit, which
        is `kept`, would not be the same now. In C but for these."""
        builder = self.builder
        refs = [g.ref if type(g) is Tensor else _NO_TENSOR for _, g in pairs]
        own = map(is_, map(_DECLARED, kept), map(builder.operation, self._variables))
        same = [*map(and_, map(eq, map(_GRADIENT, kept), refs), own)]
        if self._new_names:
            same = [*map(and_, same, map(self._new_names.isdisjoint, map(_ASKED, kept)))]
        retyped = builder.retyped if isinstance(builder, Rebuilder) else set()
        for place, ref in enumerate(refs) if retyped else ():
            if isinstance(ref, TensorRef) and ref.op in retyped:
                same[place] = same[place] and kept[place].kind == builder.type_of(ref)
        return [*compress(range(1, len(pairs)), map(not_, same[1:]))]

    def _drop(self, variable: str) -> None:
        """Let go what was made for a variable before the edit."""
        found = self._known.get(variable)
        if found is not None and isinstance(self.builder, Rebuilder):
            found.made.drop_from(self.builder)

    def belongs(self, origin: str) -> None:
        """What is made from here on belongs to the update of `origin`."""
        self.builder.origin, self.builder.phase = origin, Phase.UPDATE

    def number(self, name: str) -> float:
        """The value of a hyper-parameter."""
        return self._hyper[name]

    def hyper(self, *names: str) -> list[Tensor]:
        """Hyper-parameters as constants."""
        with self.builder.scope(self._scope, exact=True):
            made = [self._number(name) for name in names]
        self._shared += made
        if "learning_rate" in names:
            self._rate = made[names.index("learning_rate")].ref
        return made

    def _number(self, name: str) -> Tensor:
        """One hyper-parameter; the learning rate as its schedule has it."""
        schedule, builder, number = self._settings.schedule, self.builder, self._hyper[name]
        if name != "learning_rate" or schedule is None:
            return builder.constant(np.float32(number), name=name)
        self._step = self._variable("global_step", np.array(0, np.int64))
        step = builder.one("Identity", self._step, name="global_step/read")
        return schedule_rate(builder, schedule, number, step, name)

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
        parts = {"control_inputs": (self._decay(variable, scope),)} if self._decays else {}
        self._add(f"{scope}/{full_type}", full_type, inputs=inputs, attrs=attrs, **parts)
        self.done(f"{scope}/{full_type}")

    @property
    def _decays(self) -> bool:
        """Whether weights decay beside the gradient."""
        decay = self._settings.decay
        return decay is not None and decay.name == "decoupled"

    def _decay(self, variable: str, scope: str) -> str:
        """`w -= rate * factor * w`, once the gradient is there and before it is applied; the
        operation's name."""
        builder, decay = self.builder, self._settings.decay
        assert decay is not None
        assert self._rate is not None
        assert isinstance(self._gradient, Tensor)  # rows were made whole
        with builder.scope(scope, exact=True), builder.scope("decay"):
            rate = self.cast(Tensor(builder, self._rate), variable)
            factor = builder.constant(decay.number("factor"), rate.dtype, name="factor")
            share = builder.one("Mul", rate, factor)
            lost = builder.one("Mul", share, self._held(variable))
            target = builder.operation(variable)
            resource = target.type == "VarHandleOp"
            name = builder.unique("AssignSubVariableOp" if resource else "AssignSub")
        type = "AssignSubVariableOp" if resource else "AssignSub"
        attrs = {"dtype": lost.dtype} if resource else {}
        inputs, after = (target.output(), lost.ref), (self._gradient.ref.op,)
        self._add(name, type, inputs=inputs, attrs=attrs, control_inputs=after)
        return name

    def _held(self, variable: str) -> Tensor:
        """What a variable holds."""
        declared, handle = self.builder.operation(variable), self.builder.get(variable)
        if declared.type == "VarHandleOp":
            dtype = attribute(declared, "dtype", DType)
            return self.builder.one("ReadVariableOp", handle, dtype=dtype)
        return self.builder.one("Identity", handle, name="read")

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
        """The operation that stands for all updates, named as the scope; as in TensorFlow it is the
        one that counts the step, where that is counted."""
        done = tuple(sorted((*self._done, *more)))
        if self._step is None:
            self._add(self._scope, "NoOp", control_inputs=done)
            return
        with self.builder.scope(self._scope, exact=True):
            last, one = (
                self.builder.unique("update"),
                self.builder.constant(np.int64(1), name="one"),
            )
        self._add(last, "NoOp", control_inputs=done)
        inputs = (self._step.ref, one.ref)
        self._add(self._scope, "AssignAdd", inputs=inputs, control_inputs=(last,))

    def result(self) -> Updates:
        made, builder = self._made, self.builder
        last = MadeOperations(tuple(builder.made_since(self._size)), builder.names.end_log())
        order = [*chain.from_iterable(part.names for part in (*self._parts, last))]
        has_slots = [*map(_SLOTS, made.values())]
        slots = dict(compress(zip(made, has_slots, strict=True), has_slots))
        new = map(_INITIAL, made.values())
        initial = dict(chain.from_iterable(map(dict.items, (*new, self.initial))))
        given = self._of, self._first, made, last, self._rate
        return Updates((self._scope,), self._variables, slots, initial, order, *given)

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
