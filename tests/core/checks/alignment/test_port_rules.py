"""The rules of small networks of which one operation was carried over otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.checks.alignment.network_alignment import align
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.open_document import read
from gradstep.core.program.questions.loaded_document import Loaded
from tests.support.onnx_models import graph, model, node

DRAW = np.random.default_rng(5)
WEIGHTS = {
    "k": DRAW.standard_normal((4, 3, 3, 3)).astype(np.float32),
    "w": DRAW.standard_normal((4, 5)).astype(np.float32),
    "axes": np.array([2, 3]),
}


def _network(folder: Path, name: str, middle: list[Any], conv: dict[str, Any]) -> Loaded:
    nodes = [
        node("Conv", "x k", "c", "conv", **conv),
        *middle,
        node("MatMul", "m w", "y", "out"),
    ]
    of = graph(nodes, {"x": ("float32", [2, 3, 8, 8])}, {"y": ("float32", [2, 5])}, WEIGHTS)
    path = folder / f"{name}.onnx"
    path.write_bytes(model(of))
    return Loaded(read(str(path), Budget.unlimited()), {})


def _bend(kind: str, **attributes: float) -> list[Any]:
    pool = node("ReduceMean", "a axes", "m", "pool", keepdims=0)
    return [node(kind, "c", "a", "bend", **attributes), pool]


PLAIN = {"strides": [2, 2], "pads": [1, 1, 1, 1]}
LEAKY = _bend("LeakyRelu", alpha=0.1)
CASES = {
    "attribute": (
        (_bend("LeakyRelu", alpha=0.2), PLAIN), "alpha of LeakyRelu: 0.1", "bend/LeakyRelu"
    ),
    "activation": ((_bend("Tanh"), PLAIN), "activation: LeakyRelu in FILE, Tanh", "bend/Tanh"),
    "sum": (
        ([LEAKY[0], node("ReduceSum", "a axes", "m", "pool", keepdims=0)], PLAIN),
        "scale: FILE's numbers are 0.0625 times OTHER's", "pool/Sum",
    ),
    "same": (
        (LEAKY, {"strides": [2, 2], "auto_pad": "SAME_UPPER"}), "padding: 1+1 × 1+1 (",
        "conv/Conv2D",
    ),
    "dilations": (
        (LEAKY, {"strides": [2, 2], "pads": [2, 2, 2, 2], "dilations": [2, 2]}),
        "padding: 1+1 × 1+1 (", "conv/Conv2D",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_one_operation_has_otherwise(tmp_path: Path, case: str) -> None:
    (middle, conv), rule, place = CASES[case]
    right = _network(tmp_path, "right", LEAKY, PLAIN)
    port = _network(tmp_path, "port", middle, conv)
    (one,) = align(right, port).differences
    assert one.rules[0].startswith(rule)
    assert one.other[-1][0].startswith(place)


def test_dilations_are_said_besides(tmp_path: Path) -> None:
    (middle, conv), _, _ = CASES["dilations"]
    right = _network(tmp_path, "right", LEAKY, PLAIN)
    (one,) = align(right, _network(tmp_path, "port", middle, conv)).differences
    assert any("dilations of conv" in rule and "[2, 2] in OTHER" in rule for rule in one.rules)


def _cell(folder: Path, name: str, order: list[int]) -> Loaded:
    """An LSTM whose gates are in that order in all its weights."""
    draw = np.random.default_rng(6)
    shapes = {"W": (4, 4, 3), "R": (4, 4, 4), "B": (4, 4), "C": (4, 4)}
    gates = {k: draw.standard_normal(s).astype(np.float32)[order] for k, s in shapes.items()}
    weights = {key: gates[key].reshape(1, 16, -1) for key in "WR"}
    weights["B"] = np.concatenate([gates["B"].ravel(), gates["C"].ravel()])[None]
    cell = node("LSTM", "x W R B", "y", "cell", hidden_size=4)
    of = graph([cell], {"x": ("float32", [3, 2, 3])}, {"y": ("float32", [3, 1, 2, 4])}, weights)
    path = folder / f"{name}.onnx"
    path.write_bytes(model(of))
    return Loaded(read(str(path), Budget.unlimited()), {})


def test_gates_in_another_order_are_said(tmp_path: Path) -> None:
    right = _cell(tmp_path, "right", [0, 1, 2, 3])
    assert align(right, right).agrees
    first, *_ = align(right, _cell(tmp_path, "port", [0, 2, 1, 3])).differences
    assert [rule for rule in first.rules if rule.startswith("order of gates")] == [
        f"order of gates: {name} of OTHER holds FILE's blocks 0, 2, 1, 3" for name in "WR"
    ]


def test_the_same_network_has_no_rule(tmp_path: Path) -> None:
    right = _network(tmp_path, "right", LEAKY, PLAIN)
    assert align(right, right).agrees
