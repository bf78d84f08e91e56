"""TensorFlow's optimizers made of the ops they add: slots, hyper-parameters, one update op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import Tensor
from tests.oracle.program import Program, Variable


@dataclass(frozen=True)
class Rule:
    """An update op. slots: TensorFlow's name -> where it starts, in the op's order; values: the
    op's inputs after them, a hyper-parameter by name or "grad"."""

    op: str
    slots: Mapping[str, float]
    values: str
    attrs: Mapping[str, Any] = field(default_factory=dict)


RULES = {
    "GradientDescent": Rule("ApplyGradientDescent", {}, "lr grad"),
    "Momentum": Rule("ApplyMomentum", {"momentum": 0.0}, "lr grad mu"),
    "Nesterov": Rule("ApplyMomentum", {"momentum": 0.0}, "lr grad mu", {"use_nesterov": True}),
    "Adagrad": Rule("ApplyAdagrad", {"accumulator": 0.1}, "lr grad"),
    "Adadelta": Rule("ApplyAdadelta", {"accum": 0.0, "accum_update": 0.0}, "lr rho epsilon grad"),
    "RMSProp": Rule("ApplyRMSProp", {"rms": 1.0, "momentum": 0.0}, "lr decay mu epsilon grad"),
    "CenteredRMSProp": Rule(
        "ApplyCenteredRMSProp",
        {"mg": 0.0, "rms": 1.0, "momentum": 0.0},
        "lr decay mu epsilon grad",
    ),
    "Adam": Rule(
        "ApplyAdam", {"m": 0.0, "v": 0.0}, "beta1_power beta2_power lr beta1 beta2 epsilon grad"
    ),
    "Ftrl": Rule("ApplyFtrl", {"accum": 0.1, "linear": 0.0}, "grad lr l1 l2 lr_power"),
    "ProximalGradientDescent": Rule("ApplyProximalGradientDescent", {}, "lr l1 l2 grad"),
    "ProximalAdagrad": Rule("ApplyProximalAdagrad", {"accumulator": 0.1}, "lr l1 l2 grad"),
    "AdagradDA": Rule(
        "ApplyAdagradDA",
        {"gradient_accumulator": 0.0, "gradient_squared_accumulator": 0.1},
        "grad lr l1 l2 step",
    ),
}
# TensorFlow's defaults.
_DEFAULTS = {
    "lr": 0.001, "mu": 0.0, "rho": 0.95, "decay": 0.9, "l1": 0.0, "l2": 0.0, "lr_power": -0.5,
    "beta1": 0.9, "beta2": 0.999,
}  # fmt: skip
_EPSILON = {"Adadelta": 1e-8, "Adam": 1e-8}


class Optimizer:
    """One optimizer object on some variables: `step` is the operation that updates them all."""

    def __init__(
        self,
        program: Program,
        kind: str,
        pairs: Sequence[tuple[Variable, Any]],
        **hyper: float,
    ) -> None:
        self.program, self.rule = program, RULES[kind]
        self.hyper = {**_DEFAULTS, "epsilon": _EPSILON.get(kind, 1e-10), **hyper}
        self.slots: dict[str, dict[str, Variable]] = {}
        self.powers: dict[str, Variable] = {}
        if kind == "Adam":
            for name in ("beta1", "beta2"):
                start = np.float32(self.hyper[name])
                self.powers[f"{name}_power"] = program.variable(f"{name}_power", start)
        updates = [self._update(variable, grad) for variable, grad in pairs if grad is not None]
        with program.builder.control_dependencies(updates):
            last = [self._advance(name, power) for name, power in self.powers.items()]
        self.step = program.builder.unique("step")
        program.builder.op("NoOp", name=self.step, control_inputs=(*updates, *last))

    def run(self, feeds: Mapping[Any, Any] | None = None) -> None:
        self.program.run([], feeds, [self.step])

    def slot_values(self, variable: Variable) -> dict[str, Any]:
        return {name: self.program.value(v) for name, v in self.slots[variable.name].items()}

    def _update(self, variable: Variable, grad: Tensor) -> str:
        program, kind = self.program, self.program.dtypes[variable.name]
        shape = program.initial[variable.name].shape
        made: dict[str, Variable] = {}
        for name, start in self.rule.slots.items():
            value = np.full(shape, start, kind.numpy)
            made[name] = program.variable(f"{variable.name}/{name}", value, variable.resource)
        self.slots[variable.name] = made
        values = [
            grad if v == "grad" else self._value(v, kind.numpy) for v in self.rule.values.split()
        ]
        full = f"Resource{self.rule.op}" if variable.resource else self.rule.op
        name = program.builder.unique(full)
        handles = [variable.handle, *(slot.handle for slot in made.values())]
        program.builder.op(full, *handles, *values, name=name, **self.rule.attrs)
        return name

    def _value(self, name: str, kind: np.dtype[Any]) -> Any:
        """A hyper-parameter: float32, then cast to the variable's type, as TensorFlow does."""
        if name in self.powers:
            read = self.powers[name].read
            return self.program.builder.one("Cast", read, DstT=str(np.dtype(kind)))
        if name == "step":
            return np.array(self.hyper["step"], np.int64)
        return np.array(np.float32(self.hyper[name]), kind)

    def _advance(self, name: str, power: Variable) -> str:
        factor = np.float32(self.hyper[name.removesuffix("_power")])
        product = self.program.builder.one("Mul", power.read, factor)
        return power.update("Assign", product).ref.op
