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

    def until(self, decay: Setting) -> tuple[Tensor, Tensor]:
        """The step, at most `decay_steps`; and those."""
        steps = self.constant(decay.number("decay_steps"), "decay_steps")
        return self.one("Minimum", self.step, steps), steps

    def half_wave(self, share: Tensor) -> Tensor:
        """The cosine, from 1 to -1."""
        return self.one("Cos", self.one("Mul", self.constant(math.pi, "pi"), share))

    def above(self, decayed: Tensor, alpha: float) -> Tensor:
        """From 1 to `alpha`, of what goes from 1 to 0."""
        scaled = self.one("Mul", self.constant(1 - alpha, "rest"), decayed)
        return self.one("AddV2", scaled, self.constant(alpha, "alpha"))

    def normal(self) -> Tensor:
        """One number, normally distributed, another one in each run."""
        shape = self._builder.constant(np.zeros(0, np.int32), name="shape")
        return self._builder.one("RandomStandardNormal", shape, dtype=DType.FLOAT32)

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
    (step, steps), one = f.until(decay), f.constant(1, "one")
    wave = f.half_wave(f.one("RealDiv", step, steps))
    decayed = f.one("Mul", f.constant(0.5, "half"), f.one("AddV2", one, wave))
    return f.one("Mul", rate, f.above(decayed, decay.number("alpha")))


def _restarting(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    """Each time from the top, after `t_mul` times as many steps, to `m_mul` times the height."""
    one, t_mul = f.constant(1, "one"), decay.number("t_mul")
    steps = f.constant(decay.number("first_decay_steps"), "first_decay_steps")
    share = f.one("RealDiv", f.step, steps)
    if t_mul == 1:
        restarts = f.one("Floor", share)
        share = f.one("Sub", share, restarts)
    else:
        longer, less = f.constant(t_mul, "t_mul"), f.constant(1 - t_mul, "rest")
        gone = f.one("Log", f.one("Sub", one, f.one("Mul", share, less)))
        restarts = f.one("Floor", f.one("RealDiv", gone, f.one("Log", longer)))
        length = f.one("Pow", longer, restarts)
        before = f.one("RealDiv", f.one("Sub", one, length), less)
        share = f.one("RealDiv", f.one("Sub", share, before), length)
    height = f.one("Pow", f.constant(decay.number("m_mul"), "m_mul"), restarts)
    half = f.one("Mul", f.constant(0.5, "half"), height)
    decayed = f.one("Mul", half, f.one("AddV2", one, f.half_wave(share)))
    return f.one("Mul", rate, f.above(decayed, decay.number("alpha")))


def _linear_cosine(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    step, steps = f.until(decay)
    left = f.one("RealDiv", f.one("Sub", steps, step), steps)
    return f.one("Mul", rate, _waves(f, left, f.one("RealDiv", step, steps), decay))


def _noisy_linear_cosine(f: _Formula, rate: Tensor, decay: Setting) -> Tensor:
    """With noise that becomes less; drawn as of an operation without a seed."""
    step, steps = f.until(decay)
    left = f.one("RealDiv", f.one("Sub", steps, step), steps)
    later = f.one("AddV2", f.constant(1, "one"), step)
    fewer = f.one("Pow", later, f.constant(decay.number("variance_decay"), "variance_decay"))
    variance = f.constant(decay.number("initial_variance"), "initial_variance")
    deviation = f.one("Sqrt", f.one("RealDiv", variance, fewer))
    noise = f.one("Mul", f.normal(), deviation)
    noisy = f.one("AddV2", left, noise)
    return f.one("Mul", rate, _waves(f, noisy, f.one("RealDiv", step, steps), decay))


def _waves(f: _Formula, left: Tensor, share: Tensor, decay: Setting) -> Tensor:
    """What is left of the rate, times a cosine of so many periods."""
    periods = f.constant(2 * decay.number("num_periods"), "periods")
    wave = f.half_wave(f.one("Mul", periods, share))
    decayed = f.one("Mul", f.constant(0.5, "half"), f.one("AddV2", f.constant(1, "one"), wave))
    raised = f.one("AddV2", f.constant(decay.number("alpha"), "alpha"), left)
    return f.one("AddV2", f.one("Mul", raised, decayed), f.constant(decay.number("beta"), "beta"))


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
    "cosine_decay_restarts": _restarting,
    "linear_cosine_decay": _linear_cosine,
    "noisy_linear_cosine_decay": _noisy_linear_cosine,
    "piecewise_constant": _piecewise,
}
