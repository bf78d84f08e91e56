"""`gradstep precision`: what a shorter format does, in words and in JSON."""

from __future__ import annotations

import pytest

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

SPIRALS = FOLDER / "two_spirals.gradstep"
DIGITS = FOLDER / "cnn_digits.gradstep"


def test_it_says_what_makes_the_error_what_keeps_it_small_and_what_training_comes_to(
    cli: Cli,
) -> None:
    """The last batch of an epoch is a smaller one."""
    text = cli("precision", SPIRALS, "--train", 9).out
    first, *rest = text.splitlines()
    assert first.startswith("14 operations in bfloat16 move loss by ")
    assert [line for line in rest if line.endswith("(--all shows them)")]
    assert [line for line in rest if line.startswith("Enough where ")]
    assert [line for line in rest if line.startswith("Loss after 9 updates: ")]
    named = cli("precision", SPIRALS, "--all").out
    assert "tanh1" in named
    assert "--all" not in named


@pytest.mark.slow
def test_json_has_all_shares(cli: Cli) -> None:
    found = cli("precision", DIGITS, "--target", 'grad["conv1/kernel"]', "--json").json
    assert sum(one["share"] for one in found["shares"]) == pytest.approx(1)
    assert found["kept_error"] <= found["limit"] < found["error"]


def test_gradients_that_float16_loses(cli: Cli) -> None:
    text = cli("precision", DIGITS, "--format", "float16", "--scope", "conv2").out
    assert text.startswith("2 operations in float16")
    assert "With the loss times 2048, nothing is lost." in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((FOLDER / "softmax_by_hand.gradstep",), "is not finite in float32 either"),
        ((FOLDER / "while_loop.gradstep",), "leaves y as it is in float32"),
        ((FOLDER / "learning_rates.gradstep",), "sgd/loss is float64[]; other formats"),
        ((DIGITS, "--target", "nowhere"), "there is no operation named 'nowhere'"),
        ((DIGITS, "--device", "emulate:jax"), "on the processor, not on emulate:jax"),
        ((DIGITS, "--tolerance", "0"), "'0' is not a positive number"),
        ((FOLDER / "nan_gradient.gradstep", "--train", "3"), "there is nothing to train"),
    ],
)
def test_what_is_not_to_be_said_is_said_plainly(
    cli: Cli, arguments: tuple[object, ...], said: str
) -> None:
    result = cli("precision", *arguments)
    assert said in result.out + result.err
