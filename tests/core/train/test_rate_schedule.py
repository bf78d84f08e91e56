"""Learning rates step by step against TensorFlow 1's formulas, as its documentation writes them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.train.optimizers import apply_updates
from gradstep.core.train.training_settings import read_settings
from tests.support.each_case import each_of

RATE = 0.5


def exponential(step: int) -> float:
    return float(RATE * 0.9 ** (step / 4))


def polynomial(step: int) -> float:
    return float((RATE - 0.1) * (1 - min(step, 6) / 6) ** 2 + 0.1)


def cycling(step: int) -> float:
    length = 3 * max(math.ceil(step / 3), 1)
    return float((RATE - 0.0001) * (1 - step / length) + 0.0001)


def cosine(step: int, steps: int = 8, alpha: float = 0.1) -> float:
    half = 0.5 * (1 + math.cos(math.pi * min(step, steps) / steps))
    return RATE * ((1 - alpha) * half + alpha)


def piecewise(step: int) -> float:
    return 1.0 if step <= 2 else 0.5 if step <= 5 else 0.1


def restarting(step: int, t_mul: float, m_mul: float, alpha: float) -> float:
    """A turn of three steps first."""
    length, height, left = 3.0, 1.0, float(step)
    while left >= length:
        left, length, height = left - length, length * t_mul, height * m_mul
    half = 0.5 * height * (1 + math.cos(math.pi * left / length))
    return RATE * ((1 - alpha) * half + alpha)


def linear_cosine(step: int, periods: float = 0.5, alpha: float = 0, beta: float = 0.001) -> float:
    share = min(step, 8) / 8
    half = 0.5 * (1 + math.cos(math.pi * 2 * periods * share))
    return RATE * ((alpha + 1 - share) * half + beta)


CASES: list[tuple[str, Callable[[int], float]]] = [
    ("exponential_decay(4, 0.9)", exponential),
    ("exponential_decay(4, 0.9, staircase=True)", lambda s: exponential(s // 4 * 4)),
    ("natural_exp_decay(4, 0.3)", lambda s: RATE * math.exp(-0.3 * s / 4)),
    ("inverse_time_decay(decay_rate=0.5, decay_steps=2)", lambda s: RATE / (1 + 0.5 * s / 2)),
    ("inverse_time_decay(2, 0.5, True)", lambda s: RATE / (1 + 0.5 * (s // 2))),
    ("polynomial_decay(6, 0.1, power=2)", polynomial),
    ("polynomial_decay(3, cycle=True)", cycling),
    ("cosine_decay(8, 0.1)", cosine),
    ("cosine_decay_restarts(3, 1)", lambda s: restarting(s, 1, 1, 0)),
    ("cosine_decay_restarts(3, 1.5, 0.5, 0.1)", lambda s: restarting(s, 1.5, 0.5, 0.1)),
    ("linear_cosine_decay(8)", linear_cosine),
    ("linear_cosine_decay(8, 2, 0.1, 0.2)", lambda s: linear_cosine(s, 2, 0.1, 0.2)),
    ("piecewise_constant([2, 5], [1, 0.5, 0.1])", piecewise),
    ("warmup(5)", lambda s: RATE * min((s + 1) / 5, 1)),
    ("warmup(3) * cosine_decay(8, 0.1)", lambda s: cosine(s) * min((s + 1) / 3, 1)),
]


@pytest.mark.parametrize(("text", "formula"), CASES)
@pytest.mark.parametrize("optimizer", ["GradientDescent", "Adam"])
def test_each_step_has_the_rate_of_the_formula(
    text: str, formula: Callable[[int], float], optimizer: str
) -> None:
    b = GraphBuilder()
    b.variable("w", shape=(2,))
    g = b.placeholder("g", shape=(2,))
    hyper = {"learning_rate": RATE}
    updates = apply_updates(b, optimizer, hyper, [("w", g)], settings=read_settings(text))
    assert str(updates.rate) == "train/learning_rate:0"
    session = Session(b.build(), initial={**updates.initial, "w": np.ones(2, np.float32)})
    feeds = {"g": np.array([1, -2], np.float32)}
    before = np.ones(2, np.float32)
    for step in range(12):
        rate, after = session.run(["train/learning_rate", "w"], feeds, updates.targets)
        np.testing.assert_allclose(rate, formula(step), rtol=2e-6, err_msg=f"step {step}")
        if optimizer == "GradientDescent":
            np.testing.assert_allclose(after, before - rate * feeds["g"], rtol=1e-6, atol=1e-7)
        before = after
    assert session.store["train/global_step"] == 12


# What TensorFlow 2.21 gives for tf.compat.v1.train.…(0.5, step, …), steps 0 to 11.
RECORDED = {
    "cosine_decay_restarts(3)": [
        0.5, 0.375, 0.1249999850988388, 0.5, 0.46650636196136475, 0.3749999701976776,
        0.2499999850988388, 0.12499994039535522, 0.03349362313747406, 0.5, 0.4914814531803131,
        0.46650636196136475,
    ],
    "cosine_decay_restarts(3, 1.5, 0.5, 0.1)": [
        0.5, 0.38749998807907104, 0.16249997913837433, 0.2750000059604645, 0.248679980635643,
        0.1820353865623474, 0.10624998807907104, 0.05678456649184227, 0.16098377108573914,
        0.14933998882770538, 0.12852947413921356, 0.10297933965921402,
    ],
    "linear_cosine_decay(8, 2, 0.1, 0.2)": [
        0.6500000357627869, 0.34375, 0.10000000149011612, 0.28125, 0.4000000059604645,
        0.21874995529651642, 0.10000000149011612, 0.15625004470348358, 0.15000000596046448,
        0.15000000596046448, 0.15000000596046448, 0.15000000596046448,
    ],
}  # fmt: skip


def rates(text: str) -> list[float]:
    """Of twelve steps."""
    b = GraphBuilder()
    b.variable("w", shape=(2,))
    updates = apply_updates(
        b,
        "GradientDescent",
        {"learning_rate": RATE},
        [("w", b.placeholder("g", shape=(2,)))],
        settings=read_settings(text),
    )
    session = Session(b.build(), initial={**updates.initial, "w": np.ones(2, np.float32)})
    feeds = {"g": np.zeros(2, np.float32)}
    found = (session.run(["train/learning_rate"], feeds, updates.targets) for _ in range(12))
    return [float(rate) for (rate,) in found]


@pytest.mark.parametrize("text", RECORDED)
def test_rates_are_those_that_tensorflow_gives(text: str) -> None:
    np.testing.assert_allclose(rates(text), RECORDED[text], rtol=1e-5)


def test_noise_becomes_less_and_is_the_same_the_next_time() -> None:
    found = rates("noisy_linear_cosine_decay(1000, initial_variance=0.04, variance_decay=2)")
    assert found == rates("noisy_linear_cosine_decay(1000, 0.04, 2)")
    plain = rates("linear_cosine_decay(1000)")
    noise = (np.array(found) - plain) / RATE
    deviation = np.sqrt(0.04 / np.arange(1, 13) ** 2)
    assert (abs(noise) < 4 * deviation).all()
    assert len({*noise.tolist()}) == 12
    assert abs(noise / deviation).max() > 0.5


@each_of(
    ("text", "says"),
    [
        ("linear(3)", "there are warmup, exponential_decay"),
        ("cosine_decay", "there are warmup"),
        ("cosine_decay(0)", "decay_steps is above 0"),
        ("cosine_decay()", "cosine_decay needs decay_steps"),
        ("cosine_decay(1, 2, 3)", "cosine_decay takes decay_steps, alpha"),
        ("cosine_decay(steps=3)", "cosine_decay takes decay_steps, alpha"),
        ("cosine_decay('a')", "decay_steps is a number"),
        ("cosine_decay(1e999)", "decay_steps is a number"),
        ("cosine_decay(9) + warmup(3)", "joined by *"),
        ("warmup(2) * warmup(3)", "one warm-up"),
        ("piecewise_constant([1, 2], [1])", "one value more"),
        ("piecewise_constant([2, 1], [1, 2, 3])", "boundaries ascend"),
        ("piecewise_constant(1, [1, 2])", "list of numbers"),
        ("exponential_decay(**{})", "exponential_decay takes"),
        ("__import__('os')", "there are"),
        ("cosine_decay(", "cannot be read"),
    ],
)
def test_what_makes_no_sense_is_said(text: str, says: str) -> None:
    with pytest.raises(GradstepError) as caught:
        read_settings(text)
    assert says in caught.value.message
    assert "for example" in caught.value.hint
