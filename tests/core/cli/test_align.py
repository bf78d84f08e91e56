"""`gradstep align`: two documents of one network, in words and in JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER
from tests.support.alike import FILES, onnx_model

TORCH, JAX = FILES["torch"], FILES["jax"]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """To ONNX, with another epsilon."""
    path = tmp_path_factory.mktemp("ports") / "port.onnx"
    path.write_bytes(onnx_model("epsilon"))
    return path


def test_two_frameworks_agree(cli: Cli) -> None:
    result = cli("align", TORCH, JAX)
    assert result.status == 0
    assert "25 of 29 operations met, 12 of 12 weights" in result.out
    assert "fed alike: x = x, target = labels" in result.out
    assert "No value is other beyond rounding." in result.out
    assert "The gradients of 10 weights agree" in result.out


def test_the_first_difference_and_its_rule(cli: Cli, port: Path) -> None:
    result = cli("align", TORCH, port)
    assert result.status == 1
    assert "First difference, after norm/layer_norm/Sub = norm/centre/Sub:" in result.out
    assert "  FILE   norm/layer_norm/Rsqrt (Rsqrt), norm/layer_norm/Mul (Mul)" in result.out
    assert "  OTHER  norm/add/AddV2 (AddV2)" in result.out
    assert "epsilon: 1e-05 in FILE, 0.001 in OTHER" in result.out
    assert "gradients" not in result.out


def test_where_one_goes_on_alone_it_is_said(cli: Cli, tmp_path: Path) -> None:
    """The model in ONNX has no loss."""
    path = tmp_path / "right.onnx"
    path.write_bytes(onnx_model())
    result = cli("align", path, TORCH)
    assert result.status == 0
    assert "FILE goes on alone, with log_softmax/LogSoftmax and 1 more." in result.out
    assert "OTHER goes on alone, with loss/" in result.out
    assert " and 1 more." in result.out


def test_json_has_it_all(cli: Cli, port: Path) -> None:
    found = cli("align", TORCH, port, "--json").json
    assert found["agrees"] is False
    (one,) = found["differences"]
    assert one["rules"] == ["epsilon: 1e-05 in FILE, 0.001 in OTHER"]
    assert one["meeting"] == ["norm/layer_norm/Mul", "norm/div/RealDiv"]
    assert found["file"]["weights"] == 12


def test_what_is_within_the_tolerance_is_rounding(cli: Cli, port: Path) -> None:
    assert cli("align", TORCH, port, "--tolerance", "0.01").status == 0


def test_what_is_fed_to_file_is_fed_to_both(cli: Cli, port: Path) -> None:
    result = cli("align", TORCH, JAX, "--feed", "x=normal(0, 1, seed=3)")
    assert result.status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((TORCH, JAX, "--device", "emulate:jax"), "on the processor, not on emulate:jax"),
        ((TORCH, "nowhere.onnx"), "nowhere.onnx"),
        ((TORCH, JAX, "--tolerance", "0"), "'0' is not a positive number"),
        (
            (TORCH, FOLDER / "two_spirals.gradstep"),
            "not one weight and no value of FILE is in OTHER",
        ),
    ],
)
def test_what_cannot_be_aligned_is_said_plainly(
    cli: Cli, arguments: tuple[object, ...], said: str
) -> None:
    result = cli("align", *arguments)
    assert result.status
    assert said in result.out + result.err


def test_a_placement_is_not_followed_and_said(cli: Cli, tmp_path: Path) -> None:
    placed = tmp_path / "placed.gradstep"
    assert cli("convert", TORCH, placed, "--place", "loss=torch:cpu").status == 0
    result = cli("align", TORCH, placed)
    assert result.status == 0
    assert "not followed: networks are aligned on this processor." in result.out
    assert "not followed" not in cli("align", TORCH, JAX).out
