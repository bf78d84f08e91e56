"""Optimizers as texts: what is read, and what is said of the rest."""

from __future__ import annotations

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.train.optimizer_text import read_optimizer
from gradstep.core.train.optimizers import OPTIMIZERS


@pytest.mark.parametrize(
    ("text", "type", "hyper"),
    [
        ("Adam", "Adam", {}),
        (" Adam() ", "Adam", {}),
        ("Adam(learning_rate=1e-2, beta1=0)", "Adam", {"learning_rate": 0.01, "beta1": 0.0}),
        ("GradientDescent(0.1)", "GradientDescent", {"learning_rate": 0.1}),
        (
            "Momentum(0.1, 0.9, use_nesterov=True)",
            "Momentum",
            {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": 1.0},
        ),
    ],
)
def test_what_is_read(text: str, type: str, hyper: dict[str, float]) -> None:
    assert read_optimizer(text) == (type, hyper)


def test_every_type_is_read_with_all_that_it_takes() -> None:
    for type, takes in OPTIMIZERS.items():
        text = f"{type}({', '.join(f'{name}=0.5' for name in takes)})"
        assert read_optimizer(text) == (type, dict.fromkeys(takes, 0.5))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SGD(0.1)", "there is no optimizer 'SGD'"),
        ("Adam(lr=0.1)", "Adam has no hyper-parameter 'lr'"),
        ("GradientDescent", "GradientDescent needs a learning_rate"),
        ("Adam(learning_rate=open('x'))", "learning_rate is a number"),
        ("Adam(learning_rate='0.1')", "learning_rate is a number"),
        ("Adam(learning_rate=1e999)", "learning_rate is a number"),
        ("Adam(learning_rate=1j)", "learning_rate is a number"),
        ("Adam(1, 2, 3, 4, 5)", "Adam has 4 hyper-parameters"),
        ("Adam(0.1, learning_rate=0.1)", "is said once"),
        ("Adam(**{})", "is said once"),
        ("Adam(", "cannot be read"),
        ("", "cannot be read"),
        ("tf.Adam()", "cannot be read"),
        ("(" * 900, "cannot be read"),
        ("Adam" * 900, "cannot be read"),
    ],
)
def test_what_is_said_of_the_rest(text: str, says: str) -> None:
    with pytest.raises(GradstepError, match=says.replace("(", r"\(")) as caught:
        read_optimizer(text)
    assert caught.value.kind == "ValueError"
    assert caught.value.hint
