"""Clipping and weight decay against the same in NumPy, for numbers of any size and rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.train.optimizers import apply_updates
from gradstep.core.train.training_settings import read_settings

RATE = 0.25


def clipped(clip: str, gradients: list[np.ndarray]) -> list[np.ndarray]:
    """As TensorFlow's documentation writes it."""
    name, limit = clip.partition("(")[0], float(clip.partition("(")[2][:-1])
    if name == "value":
        return [np.clip(g, -limit, limit) for g in gradients]
    if name == "norm":
        return [g * limit / max(np.linalg.norm(g), limit) for g in gradients]
    norm = np.sqrt(sum(np.sum(np.square(g)) for g in gradients))
    return [g * limit / max(norm, limit) for g in gradients]


@settings(deadline=None)
@given(
    seed=st.integers(0, 999),
    clip=st.sampled_from(["value(0.3)", "norm(1)", "global_norm(2)", "norm(1e6)", ""]),
    decay=st.sampled_from(["", "l2(0.1)", "decoupled(0.2)"]),
    kind=st.sampled_from(["float32", "float64"]),
    resource=st.booleans(),
)
@pytest.mark.slow
def test_one_step_is_what_numpy_makes_of_it(
    seed: int, clip: str, decay: str, kind: str, resource: bool
) -> None:
    dice, b = np.random.default_rng(seed), GraphBuilder()
    shapes: dict[str, tuple[int, ...]] = {"a": (3,), "net/b": (2, 2), "c": ()}
    start = {n: np.asarray(dice.normal(size=s), kind) for n, s in shapes.items()}
    size = 10.0 ** dice.integers(-3, 3)
    found = {n: np.asarray(dice.normal(size=s) * size, kind) for n, s in shapes.items()}
    pairs: list[tuple[str, Any]] = []
    for name, shape in shapes.items():
        type = "VarHandleOp" if resource else "VariableV2"
        b.one(type, name=name, dtype=DType(kind), shape=Shape(shape))
        pairs.append((name, b.placeholder(f"g_{name}", kind, shape)))
    asked = read_settings("", clip, decay)
    updates = apply_updates(b, "GradientDescent", {"learning_rate": RATE}, pairs, settings=asked)
    session = Session(b.build(), initial={**updates.initial, **start})
    session.run([], {f"g_{name}": g for name, g in found.items()}, updates.targets)
    bent = [found[n].astype(float) for n in shapes]
    if decay.startswith("l2"):
        bent = [g + 0.1 * start[n].astype(float) for n, g in zip(shapes, bent, strict=True)]
    bent = clipped(clip, bent) if clip else bent
    for name, gradient in zip(shapes, bent, strict=True):
        expected = start[name].astype(float) - RATE * gradient
        if decay.startswith("decoupled"):
            expected -= RATE * 0.2 * start[name].astype(float)
        np.testing.assert_allclose(session.store[name], expected, rtol=3e-5, atol=1e-5 * size)


@pytest.mark.parametrize("optimizer", ["Adam", "Momentum", "RMSProp", "Ftrl"])
def test_decoupled_decay_goes_beside_what_the_optimizer_does(optimizer: str) -> None:
    hyper = {"learning_rate": 0.1, **({"momentum": 0.9} if optimizer == "Momentum" else {})}
    ends = {}
    for decay in ("", "decoupled(0.5)"):
        b = GraphBuilder()
        b.variable("w", shape=(2,))
        pairs = [("w", b.placeholder("g", shape=(2,)))]
        asked = read_settings(decay=decay)
        updates = apply_updates(b, optimizer, hyper, pairs, settings=asked)
        initial = {**updates.initial, "w": np.array([1, -2], np.float32)}
        session = Session(b.build(), initial=initial)
        session.run([], {"g": np.array([0.3, 4], np.float32)}, updates.targets)
        ends[decay] = np.array(session.store["w"])
    if optimizer != "Ftrl":  # which works the variable out anew from what it accumulates
        expected = ends[""] - 0.1 * 0.5 * np.array([1, -2])
        np.testing.assert_allclose(ends["decoupled(0.5)"], expected, rtol=1e-6)


def test_rows_stay_rows_when_they_are_clipped_and_become_whole_where_weights_decay() -> None:
    for clip, decay in (("global_norm(1)", ""), ("", "l2(0.5)")):
        b = GraphBuilder()
        b.variable("w", shape=(3, 2))
        values, indices = b.placeholder("v", shape=(2, 2)), np.array([2, 0], np.int32)
        rows = IndexedSlices(values, b.tensor(indices), np.array([3, 2], np.int32))
        asked = read_settings("", clip, decay)
        hyper = {"learning_rate": 1.0}
        updates = apply_updates(b, "GradientDescent", hyper, [("w", rows)], settings=asked)
        start = np.ones((3, 2), np.float32)
        session = Session(b.build(), initial={**updates.initial, "w": start})
        given_ = np.array([[3, 0], [0, 4]], np.float32)
        session.run([], {"v": given_}, updates.targets)
        whole = np.zeros((3, 2))
        whole[indices] = given_
        bent = whole / 5 if clip else whole + 0.5
        np.testing.assert_allclose(session.store["w"], start - bent, rtol=1e-6)


def test_a_global_norm_that_is_not_finite_makes_nan_of_all() -> None:
    b = GraphBuilder()
    pairs = []
    for name in ("a", "b"):
        b.variable(name, shape=())
        pairs.append((name, b.placeholder(f"g_{name}", shape=())))
    asked = read_settings(clip="global_norm(1)")
    updates = apply_updates(b, "GradientDescent", {"learning_rate": 1.0}, pairs, settings=asked)
    initial = {**updates.initial, "a": np.float32(1), "b": np.float32(1)}
    session = Session(b.build(), initial=initial)
    session.run([], {"g_a": np.float32(np.inf), "g_b": np.float32(1)}, updates.targets)
    assert np.isnan(session.store["a"])
    assert np.isnan(session.store["b"])
