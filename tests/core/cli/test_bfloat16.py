"""A document of bfloat16, from its file to what the commands say of it, and back into files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli

WEIGHTS = np.random.default_rng(1).normal(size=(4, 3)).astype(BFLOAT16)
LARGE = (np.arange(2048) / 7).reshape(4, 512).astype(BFLOAT16)  # a file of its own in the document
X = np.random.default_rng(2).normal(size=(5, 4)).astype(BFLOAT16)


@pytest.fixture
def document() -> Document:
    build = GraphBuilder()
    x = build.placeholder("x", "bfloat16", (None, 4))
    w = build.one("VariableV2", name="w", dtype="bfloat16", shape=Shape.of(4, 3))
    product = build.one("MatMul", x, tf.identity(w), name="product")
    logits = build.one("BiasAdd", product, build.constant([0.1, 0.2, 0.3], "bfloat16", name="b"))
    likely = build.one("Log", build.one("Softmax", logits, name="p"), name="likely")
    mean = build.one("Mean", likely, np.array([0, 1], np.int32), name="mean")
    loss = build.one("Neg", mean, name="loss")
    build.one("MatMul", x, build.constant(LARGE, name="large"), name="wide")
    return Document(
        graph=build.build(),
        request=GradientRequest(of=(loss.ref,), wrt=(w.ref,)),
        initial={"w": Constant(WEIGHTS)},
        feeds={"x:0": Constant(X)},
        fetches=(loss.ref, TensorRef("wide")),
    )


@pytest.fixture
def file(tmp_path: Path, document: Document) -> Path:
    gradstep_file.save(tmp_path / "short.gradstep", document)
    return tmp_path / "short.gradstep"


def test_it_is_saved_and_opened(file: Path, document: Document) -> None:
    again = read(file)
    assert again.graph.operations == document.graph.operations
    assert again.initial == document.initial
    assert again.feeds == document.feeds
    assert again.graph["large"].attrs["value"].array.dtype == BFLOAT16


@pytest.mark.parametrize("suffix", [".pb", ".pbtxt"])
def test_it_is_a_graphdef_and_back(cli: Cli, file: Path, suffix: str) -> None:
    there = file.with_suffix(suffix)
    assert cli("convert", file, there).status == 0
    graph = read(there).graph
    assert graph["x"].attrs["dtype"] is DType.BFLOAT16
    for name, wanted in (("large", LARGE), ("w/initial_value", WEIGHTS)):
        found = graph[name].attrs["value"].array
        assert found.dtype == BFLOAT16
        np.testing.assert_array_equal(found, wanted)


def test_it_is_a_script(cli: Cli, file: Path) -> None:
    assert cli("convert", file, file.with_suffix(".py")).status == 0
    text = file.with_suffix(".py").read_text()
    compile(text, "short.py", "exec")
    assert "tf.bfloat16" in text
    assert "np.bfloat16" not in text


def test_it_runs_and_is_shown(cli: Cli, file: Path) -> None:
    done = cli("run", file, "--fetch", "loss", "x", "--feed", "x=[[0.1, 1, 2, 3]]")
    assert done.status == 0
    assert "loss  bfloat16[] " in done.out
    assert "[[0.100098, 1, 2, 3]]" in done.out
    stopped = cli("debug", file, "--script", "break mean; c; p likely; p w").out
    assert "likely  bfloat16[5, 3] [[" in stopped
    assert "w  bfloat16[4, 3] [[0.345703, 0.820312, 0.330078]" in stopped


@pytest.mark.slow
def test_its_gradients_are_checked(cli: Cli, file: Path) -> None:
    """They are right, but for what bfloat16 rounds; nothing is called wrong for its digits."""
    done = cli("check", file)
    assert done.status == 0, done.out
    assert "bfloat16's limit at index" in done.out
    assert "wrong" not in done.out.lower()


def test_why_says_what_is_not_finite(cli: Cli, file: Path) -> None:
    done = cli("why", file, "--feed", "x=[[1e3, -1e3, 0, 0]]")
    assert done.status == 0
    assert "likely" in done.out
    assert "-inf" in done.out.lower()


def test_what_it_has_no_number_for_is_refused(cli: Cli, file: Path) -> None:
    done = cli("run", file, "--feed", "x=[[1e39, 1, 1, 1]]")
    assert done.status != 0
    assert done.err.count("\n") <= 2
    assert "x" in done.err


def test_devices_are_compared(cli: Cli, file: Path) -> None:
    found = cli("compare", file, "--against", "emulate:tf-gpu", "--json").json
    rows = {row["name"]: row for row in found["nodes"]}
    assert rows["product"]["left"]["dtype"] == "bfloat16"
    assert {row["verdict"] for row in rows.values()} == {"equal"}


def test_values_are_numpys_files_and_safetensors(cli: Cli, file: Path) -> None:
    """NumPy writes bfloat16 as two bytes without a meaning, and those are read as such."""
    folder = file.parent
    np.save(folder / "x.npy", X[:2])
    header = {"x": {"dtype": "BF16", "shape": [2, 4], "data_offsets": [0, 16]}}
    text = json.dumps(header).encode()
    whole = len(text).to_bytes(8, "little") + text + X[:2].tobytes()
    (folder / "x.safetensors").write_bytes(whole)
    said = [
        cli("run", file, "--fetch", "x", "--feed", f"x=@{folder / name}").out
        for name in ("x.npy", "x.safetensors")
    ]
    wanted = cli("run", file, "--fetch", "x", "--feed", f"x={X[:2].tolist()}").out
    assert said == [wanted, wanted]
    assert "bfloat16[2, 4]" in wanted


def test_the_script_for_numpy_runs(file: Path, tmp_path: Path, cli: Cli) -> None:
    """With the rounding of each operation."""
    script = tmp_path / "short.numpy.py"
    assert cli("convert", file, script).status == 0
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loss = cli("run", file, "--json").json["runs"][0]["fetches"]["loss"]
    assert f"{loss['data']:.4g}" in done.stdout
