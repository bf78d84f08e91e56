"""Update operations for trained variables, named and ordered as TensorFlow 1's optimizers do.

The rules are TensorFlow's ApplyGradientDescent and ApplyAdam (Adam with its epsilon outside the
bias correction: Kingma & Ba, 2015, just before section 2.1), for resource variables
ResourceApplyGradientDescent and ResourceApplyAdam. Hyper-parameters are float32 whatever the
variables are, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import DType, Shape
from core.graph.model import Operation, Phase, TensorRef
from core.ops.builder import GraphBuilder, Tensor

Pair = tuple[str, Tensor]  # variable, gradient of the loss with respect to it


@dataclass(frozen=True)
class Updates:
    """What was added. targets: operations that do the updates when run; slots: variable -> its
    slot variables; initial: slot or other new variable -> its value before training."""

    targets: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]
    initial: Mapping[str, np.ndarray]


def apply_updates(
    builder: GraphBuilder, type: str, hyper: Mapping[str, float], pairs: Sequence[Pair]
) -> Updates:
    """Add the updates of optimizer `type` ("Adam", "GradientDescent") to the graph.

    hyper: by TensorFlow's argument names; what is absent has TensorFlow's default. Raises
    GradstepError for an unknown optimizer or hyper-parameter, and for a variable whose shape is
    not known.
    """
    if type not in _OPTIMIZERS:
        raise GradstepError(
            f"there is no optimizer '{type}'",
            kind="ValueError",
            hint=f"the optimizers are {', '.join(_OPTIMIZERS)}",
        )
    defaults, add = _OPTIMIZERS[type]
    update = _Update(builder, _complete(type, hyper, defaults))
    outer = builder.origin, builder.phase
    try:
        add(update, pairs)
        return update.result()
    finally:
        builder.origin, builder.phase = outer


class _Update:
    """The operations of one call of `apply_updates`, in the scope `train`.

    Each belongs to a variable, so that the debugger shows one step for each variable.
    """

    def __init__(self, builder: GraphBuilder, hyper: Mapping[str, float]) -> None:
        self.builder = builder
        self.slots: dict[str, tuple[str, ...]] = {}
        self.initial: dict[str, np.ndarray] = {}
        self._hyper = hyper
        self._reads: dict[TensorRef, Tensor] = {}  # ref variable of a power -> its one read
        self._done: list[str] = []  # operations that update something
        with builder.scope("train") as scope:
            self._scope = scope

    def belongs(self, origin: str) -> None:
        """What is made from here on belongs to the update of `origin`."""
        self.builder.origin, self.builder.phase = origin, Phase.UPDATE

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
            read = self.builder.one("Identity", variable, name=f"{variable.ref.op}/read")
            self._reads[variable.ref] = read
        return variable

    def slot(self, variable: str, name: str) -> Tensor:
        """A new variable of zeros, shaped and typed like `variable`."""
        declared = self.builder.operation(variable)
        shape = declared.attrs["shape"]
        if not shape.is_static:
            raise GradstepError(
                f"the shape of variable '{variable}' must be known to train it",
                kind="ValueError",
                node=variable,
                hint="set its shape attribute",
            )
        zeros = np.zeros(shape.static(), DType(declared.attrs["dtype"]).numpy)
        slot = self._variable(f"{variable}/{name}", zeros, declared.type)
        self.slots[variable] = (*self.slots.get(variable, ()), slot.ref.op)
        return slot

    def apply(self, type: str, variable: str, slots: Sequence[Tensor], *values: Tensor) -> None:
        """The operation that updates `variable` and its `slots`. Among `values`, powers are read,
        and scalars that are not of the variable's element type cast to it, as TensorFlow does."""
        target = self.builder.operation(variable)
        dtype = DType(target.attrs["dtype"])
        full_type = f"Resource{type}" if target.type == "VarHandleOp" else type
        with (
            self.builder.scope(self._scope, exact=True),
            self.builder.scope(f"update_{variable}") as scope,
        ):
            given = [self._cast(self._read(x, full_type), dtype) for x in values]
        inputs = (target.output(), *(x.ref for x in (*slots, *given)))
        self._add(f"{scope}/{full_type}", full_type, inputs=inputs)
        self._done.append(f"{scope}/{full_type}")

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
        """The value of a power; any other tensor as it is."""
        if x.dtype is not DType.RESOURCE:
            return self._reads.get(x.ref, x)
        with self.builder.scope(scope, exact=True):
            return self.builder.one("ReadVariableOp", x, dtype=DType.FLOAT32)

    def _cast(self, x: Tensor, dtype: DType) -> Tensor:
        if x.dtype == dtype or x.shape.rank != 0:
            return x
        return self.builder.one("Cast", x, DstT=dtype)

    def _add(self, name: str, type: str, **parts: Any) -> None:
        """An operation of exactly this name."""
        origin, phase = self.builder.origin, self.builder.phase
        self.builder.add(Operation(name, type, origin=origin, phase=phase, **parts))


def _gradient_descent(update: _Update, pairs: Sequence[Pair]) -> None:
    rate: list[Tensor] = []
    for variable, gradient in pairs:
        update.belongs(variable)
        rate = rate or update.hyper("learning_rate")
        update.apply("ApplyGradientDescent", variable, (), *rate, gradient)
    update.finish()


def _adam(update: _Update, pairs: Sequence[Pair]) -> None:
    """Every variable's step shares the hyper-parameters and powers, made with the first."""
    shared: list[Tensor] = []
    powers: list[Tensor] = []
    for variable, gradient in pairs:
        update.belongs(variable)
        slots = [update.slot(variable, "Adam") for _ in range(2)]
        if not powers:
            powers = [update.power(of, like=variable) for of in ("beta1", "beta2")]
            shared = update.hyper("learning_rate", "beta1", "beta2", "epsilon")
        update.apply("ApplyAdam", variable, slots, *powers, *shared, gradient)
    update.belongs(powers[0].ref.op)
    _, *betas, _ = shared
    update.finish(*(update.assign_product(*pair) for pair in zip(powers, betas, strict=True)))


_Add = Callable[[_Update, Sequence[Pair]], None]
# Name -> defaults (None: must be given), and what adds its operations.
_OPTIMIZERS: Mapping[str, tuple[Mapping[str, float | None], _Add]] = {
    "GradientDescent": ({"learning_rate": None}, _gradient_descent),
    "Adam": (
        {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
        _adam,
    ),
}


def _complete(
    type: str, hyper: Mapping[str, float], defaults: Mapping[str, float | None]
) -> dict[str, float]:
    unknown = sorted(set(hyper) - set(defaults))
    if unknown:
        raise GradstepError(
            f"{type} has no hyper-parameter '{unknown[0]}'",
            kind="ValueError",
            hint=f"it has {', '.join(defaults)}",
        )
    found = {name: hyper.get(name, default) for name, default in defaults.items()}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise GradstepError(f"{type} needs a {missing[0]}", kind="ValueError", hint="set it")
    return {name: float(value) for name, value in found.items() if value is not None}
