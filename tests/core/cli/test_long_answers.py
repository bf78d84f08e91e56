"""Answers about networks of many weights: what is alike is said once, and --all says everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli

WEIGHTS = ("a", "b", "c", "d", "e", "f")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """loss = Σ Σ w² / scale over six weights of nine elements; x is none of them."""
    g = GraphBuilder()
    scale = g.variable("scale", shape=())
    terms = [
        g.one("Sum", g.one("Square", g.variable(name, shape=(9,))), np.array([0], np.int32))
        for name in WEIGHTS
    ]
    g.one("RealDiv", g.one("AddN", *terms), scale, name="loss")
    wrt = tuple(TensorRef(name) for name in WEIGHTS)
    document = Document(
        graph=g.build(),
        request=GradientRequest(of=(TensorRef("loss"),), wrt=wrt),
        initial={
            "scale": Constant(np.float32(2)),
            **{name: Constant(np.linspace(1, 2, 9, dtype=np.float32)) for name in WEIGHTS},
        },
    )
    gradstep_file.save(tmp_path / "net.gradstep", document)
    return tmp_path / "net.gradstep"


def broken(network: Path) -> Path:
    document = gradstep_file.load(network)
    initial = {**document.initial, "scale": Constant(np.float32(np.nan))}
    gradstep_file.save(network, document.with_(initial=initial))
    return network


def test_check_has_a_line_for_each_weight(cli: Cli, network: Path) -> None:
    short = cli("check", network)
    assert short.status == 0
    lines = short.out.splitlines()
    assert [sum(line.startswith(f"{name}[") for line in lines) for name in WEIGHTS] == [1] * 6
    assert all(line.endswith("ok, and 8 others") for line in lines if line.startswith("a["))
    whole = cli("check", network, "--all").out.splitlines()
    assert sum(line.startswith("a[") for line in whole) == 9
    assert not any("others" in line for line in whole)
    objects = cli("check", network, "--json").json
    assert len(objects["gradcheck"]) == 54
    assert objects == cli("check", network, "--all", "--json").json


def test_check_shows_what_is_wrong(cli: Cli, network: Path) -> None:
    """The gradient of Square is taken for another one's; RealDiv's and Sum's are right."""
    result = cli("check", network, "--override", "Square=Identity")
    assert result.status == 1
    wrong = [line for line in result.out.splitlines() if line.startswith("a[")]
    assert len(wrong) == 5
    assert wrong[-1].endswith(", and 4 others")


def test_why_says_a_cause_once(cli: Cli, network: Path) -> None:
    result = cli("why", broken(network))
    assert result.out.count("  path: ") == 2  # of the loss, and of all gradients
    assert "so is, by the same cause: b, c, d, e, f" in result.out
    assert cli("why", network, "--wrt", *WEIGHTS).out.count("  path: ") == 6
    assert len(cli("why", network, "--json").json["gradients"]) == 6


def test_why_says_of_what_is_well_no_more_than_that(cli: Cli, network: Path) -> None:
    assert len(cli("why", network).out.splitlines()) == 6


def test_why_says_that_it_knows_no_fix(cli: Cli, network: Path) -> None:
    assert "fix: nothing is to be mended" in cli("why", network, "--fix").out
    assert "fix: none is known" in cli("why", broken(network), "--fix").out
