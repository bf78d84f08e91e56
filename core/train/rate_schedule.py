"""Learning rates that hang on the step, as operations: TensorFlow 1's formulas, in its order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.train.training_settings import Schedule, Setting


def schedule_rate(
    builder: GraphBuilder, schedule: Schedule, rate: float, step: Tensor, name: str
) -> Tensor:
    """The learning rate, float32 [], at `step` (int64 [], from 0 on), in an operation `name`.

    Warm-up: the rate times min(1, (step + 1) / steps); piecewise_constant has rates of its own."""
    with builder.scope(f"{name}_schedule"):
        made = _Formula(builder, step)
        found = made.constant(rate, "initial")
        if schedule.decay is not None:
            found = _FORMULAS[schedule.decay.name](made, found, schedule.decay)
        if schedule.warmup:
            found = made.warmed_up(found, schedule.warmup)
    return builder.one("Identity", found, name=name)


class _Formula:
    """Operations on float32 scalars."""

    def __init__(self, builder: GraphBuilder, step: Tensor) -> None:
        self._builder = builder
        self.step = builder.one("Cast", step, DstT=DType.FLOAT32, name="step")

    def constant(self, value: float, name: str) -> Tensor:
        return self._builder.constant(np.float32(value), name=name)

    def one(self, type: str, *inputs: Tensor) -> Tensor:
        return self._builder.one(type, *inputs)

    def progress(self, decay: Setting) -> Tensor:
        """How many times `decay_steps` have gone by; a whole number with `staircase`."""
        p = self.one(
            "RealDiv", self.step, self.constant(decay.number("decay_steps"), "decay_steps")
        )
        return self.one("Floor", p) if decay.number("staircase") else p

    def warmed_up(self, rate: Tensor, steps: float) -> Tensor:
        one = self.constant(1, "one")
        done = self.one("AddV2", self.step, one)
        share = self.one("RealDiv", done, self.constant(steps, "warmup_steps"))
        return self.one("Mul", rate, self.one("Minimum", share, one))


def _exponential(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    base = f.constant(decay.number("decay_rate"), "decay_rate")
    return f.one("Mul", rate, f.one("Pow", base, f.progress(decay)))


def _natural(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    factor = f.constant(-decay.number("decay_rate"), "decay_rate")
    return f.one("Mul", rate, f.one("Exp", f.one("Mul", factor, f.progress(decay))))


def _inverse_time(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    factor = f.constant(decay.number("decay_rate"), "decay_rate")
    under = f.one("AddV2", f.constant(1, "one"), f.one("Mul", factor, f.progress(decay)))
    return f.one("RealDiv", rate, under)


def _polynomial(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    steps = f.constant(decay.number("decay_steps"), "decay_steps")
    end, one = f.constant(decay.number("end_learning_rate"), "end"), f.constant(1, "one")
    if decay.number("cycle"):
        rounds = f.one("Maximum", f.one("Ceil", f.one("RealDiv", f.step, steps)), one)
        step, steps = f.step, f.one("Mul", steps, rounds)
    else:
        step = f.one("Minimum", f.step, steps)
    left = f.one("Sub", one, f.one("RealDiv", step, steps))
    power = f.one("Pow", left, f.constant(decay.number("power"), "power"))
    return f.one("AddV2", f.one("Mul", f.one("Sub", rate, end), power), end)


def _cosine(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    steps, one = f.constant(decay.number("decay_steps"), "decay_steps"), f.constant(1, "one")
    share = f.one("RealDiv", f.one("Minimum", f.step, steps), steps)
    cosine = f.one("Cos", f.one("Mul", f.constant(math.pi, "pi"), share))
    decayed = f.one("Mul", f.constant(0.5, "half"), f.one("AddV2", one, cosine))
    alpha = decay.number("alpha")
    scaled = f.one("Mul", f.constant(1 - alpha, "rest"), decayed)
    return f.one("Mul", rate, f.one("AddV2", scaled, f.constant(alpha, "alpha")))


def _piecewise(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    """TensorFlow branches; this chooses the first piece that the step is in."""
    *values, found = (f.constant(value, "value") for value in decay.numbers("values"))
    for boundary, value in reversed([*zip(decay.numbers("boundaries"), values, strict=True)]):
        inside = f.one("LessEqual", f.step, f.constant(boundary, "boundary"))
        found = f.one("SelectV2", inside, value, found)
    return found


_FORMULAS: Mapping[str, Callable[[_Formula, Tensor, Setting], Tensor]] = {
    "exponential_decay": _exponential,
    "natural_exp_decay": _natural,
    "inverse_time_decay": _inverse_time,
    "polynomial_decay": _polynomial,
    "cosine_decay": _cosine,
    "piecewise_constant": _piecewise,
}
