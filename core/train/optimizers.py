"""Update operations for trained variables, named and ordered as TensorFlow 1's optimizers do.

The rules are TensorFlow's ApplyGradientDescent and ApplyAdam (Adam with its epsilon outside the
bias correction: Kingma & Ba, 2015, just before section 2.1). Hyper-parameters are float32 whatever
the variables are, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import DType, Shape
from core.graph.model import Operation, Phase
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

    def power(self, of: str) -> tuple[Tensor, Tensor]:
        """A new variable that starts as the hyper-parameter `of`, and a read of it."""
        variable = self._variable(f"{of}_power", np.array(self._hyper[of], np.float32))
        return variable, self.builder.one("Identity", variable, name=f"{variable.ref.op}/read")

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

    def apply(self, type: str, variable: str, *inputs: Tensor) -> None:
        """The operation that updates `variable`. Scalars among `inputs` that are not of its
        element type are cast to it, as TensorFlow does."""
        target = self.builder.operation(variable)
        dtype = DType(target.attrs["dtype"])
        full_type = f"Resource{type}" if target.type == "VarHandleOp" else type
        with (
            self.builder.scope(self._scope, exact=True),
            self.builder.scope(f"update_{variable}") as scope,
        ):
            given = [self._cast(x, dtype) for x in inputs]
            self.builder.op(full_type, self.builder.get(target.output()), *given, name=full_type)
        self._done.append(f"{scope}/{full_type}")

    def assign_product(self, power: Tensor, read: Tensor, factor: Tensor) -> str:
        """power *= factor, once all variables are updated; the operation's name."""
        with self.builder.scope(self._scope, exact=True):
            with self.builder.control_dependencies(self._done):
                product = self.builder.one("Mul", read, factor, name="mul")
            assign = self.builder.one("Assign", power, product, use_locking=False)
        return assign.ref.op

    def finish(self, *more: str) -> None:
        """The operation that stands for all updates, named as the scope."""
        everything = Operation(
            name=self._scope,
            type="NoOp",
            control_inputs=tuple(sorted((*self._done, *more))),
            origin=self.builder.origin,
            phase=Phase.UPDATE,
        )
        self.builder.add(everything)

    def result(self) -> Updates:
        return Updates((self._scope,), self.slots, self.initial)

    def _variable(self, name: str, value: np.ndarray, type: str = "VariableV2") -> Tensor:
        dtype, shape = DType.of(value.dtype), Shape(tuple(value.shape))
        made = self.builder.one(type, name=name, dtype=dtype, shape=shape)
        self.initial[made.ref.op] = value
        return made

    def _cast(self, x: Tensor, dtype: DType) -> Tensor:
        if x.dtype == dtype or x.shape.rank != 0 or x.ref.op in self.initial:
            return x
        return self.builder.one("Cast", x, DstT=dtype)


def _gradient_descent(update: _Update, pairs: Sequence[Pair]) -> None:
    rate: list[Tensor] = []
    for variable, gradient in pairs:
        update.belongs(variable)
        rate = rate or update.hyper("learning_rate")
        update.apply("ApplyGradientDescent", variable, *rate, gradient)
    update.finish()


def _adam(update: _Update, pairs: Sequence[Pair]) -> None:
    """Every variable's step shares the hyper-parameters and powers, made with the first."""
    shared: list[Tensor] = []
    powers: list[tuple[Tensor, Tensor]] = []
    for variable, gradient in pairs:
        update.belongs(variable)
        slots = [update.slot(variable, "Adam") for _ in range(2)]
        if not powers:
            powers = [update.power("beta1"), update.power("beta2")]
            shared = update.hyper("learning_rate", "beta1", "beta2", "epsilon")
        reads = [read for _, read in powers]
        update.apply("ApplyAdam", variable, *slots, *reads, *shared, gradient)
    (power1, read1), (power2, read2) = powers
    update.belongs(power1.ref.op)
    _, beta1, beta2, _ = shared
    update.finish(
        update.assign_product(power1, read1, beta1), update.assign_product(power2, read2, beta2)
    )


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
