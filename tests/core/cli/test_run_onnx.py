"""`gradstep run` of an ONNX model: what the model says that it gives, and nothing besides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.core.cli.conftest import Cli
from tests.core.lowering.test_onnx_gradients import branches, loop
from tests.support import onnx_models as onnx


def test_a_branch_that_is_not_taken_is_nothing_to_show(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "if.onnx"
    graph = branches()
    path.write_bytes(onnx.model(graph))
    for x in ([1.0, 2.0], [-1.0, -2.0]):
        found = cli("run", path, "--feed", f"x={x}", "--json").json["runs"][0]["fetches"]
        assert [*found] == ["y"]
        w = np.frombuffer(graph.initializer[0].raw_data, np.float32)
        wanted = np.float32(x) * w if sum(x) > 0 else np.sin(w)
        assert found["y"]["data"] == pytest.approx(wanted.tolist(), rel=1e-5)
        assert cli("run", path, "--feed", f"x={x}", "--fetch", "y", "--json").status == 0


def test_what_is_left_of_a_loop_is_nothing_to_show(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "loop.onnx"
    path.write_bytes(onnx.model(loop()))
    result = cli("run", path, "--feed", "x=[1, -2]")
    assert result.out.startswith("y  float32[2]")
    assert len(result.out.splitlines()) == 1


def test_where_something_is_unknown_what_is_before_it_runs(cli: Cli, tmp_path: Path) -> None:
    nodes = [onnx.node("Neg", "x", "h"), onnx.node("Frobnicate", "h", "z")]
    made = onnx.graph(nodes, {"x": ("float32", [2])}, {})
    made.output.add(name="h")
    path = tmp_path / "unknown.onnx"
    path.write_bytes(onnx.model(made))
    result = cli("run", path, "--feed", "x=[1, -2]")
    assert result.status == 0
    assert "h" in result.out.split()
