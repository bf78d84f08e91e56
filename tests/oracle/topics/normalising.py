"""Batch normalisation: moments, moving averages, and the three ways to update them."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.autodiff.gradients import gradients
from core.ops import api as tf
from core.ops.builder import Tensor, call, call_many
from tests.oracle.program import Program
from tests.oracle.reasons import NO_COND
from tests.oracle.shorthand import ints, total
from tests.oracle.stepping import Optimizer
from tests.oracle.table import STATISTIC, Case, checks

LAYERS = "names and collections of tf.layers in Python"


MOMENTUM, EPSILON = 0.99, 1e-3


class Normalised:
    """loss = mean((w h - 1)²), h = batch_normalization(x), gradient descent at 0.1."""

    def __init__(self, p: Program, start: np.ndarray, training: bool) -> None:
        self.p, self.training = p, training
        size = start.shape[-1]
        zeros, ones = np.zeros(size, np.float32), np.ones(size, np.float32)
        self.gamma, self.beta = p.variable("bn/gamma", ones), p.variable("bn/beta", zeros)
        self.mean = p.variable("bn/moving_mean", zeros)
        self.variance = p.variable("bn/moving_variance", ones)
        self.w = p.variable("w", np.float32(1))
        self.x = p.like("x", start)
        self.updates: list[str] = []
        self.h = self._fused() if start.ndim == 4 else self._plain()
        self.loss = total(call("Square", self.h * self.w.read - 1.0), "Mean")

    def _plain(self) -> Tensor:
        if not self.training:
            return self._scaled(self.mean.read, self.variance.read)
        mean = call("Mean", self.x, ints(0), keep_dims=True)
        apart = call("SquaredDifference", self.x, tf.stop_gradient(mean))
        variance = call("Mean", apart, ints(0), keep_dims=True)
        mean, variance = (call("Squeeze", y, squeeze_dims=(0,)) for y in (mean, variance))
        self._move(mean, variance)
        return self._scaled(mean, variance)

    def _scaled(self, mean: Tensor, variance: Tensor) -> Tensor:
        factor = call("Rsqrt", variance + EPSILON) * self.gamma.read
        return self.x * factor + (self.beta.read - mean * factor)

    def _fused(self) -> Tensor:
        none = self.p.builder.constant(np.zeros(0, np.float32))
        inputs = self.x, self.gamma.read, self.beta.read, none, none
        y, mean, variance, *_ = call_many(
            "FusedBatchNormV3", *inputs, epsilon=EPSILON, is_training=True
        )
        self._move(mean, variance)
        return y

    def _move(self, mean: Tensor, variance: Tensor) -> None:
        for moving, batch in ((self.mean, mean), (self.variance, variance)):
            step = (moving.read - batch) * np.float32(1 - MOMENTUM)
            self.updates.append(moving.update("AssignSub", step).ref.op)

    def train(self, how: str, start: np.ndarray) -> dict[str, Any]:
        """Three steps; the updates left out, under control dependencies, or fetched beside."""
        trained = [self.gamma, self.beta, self.w]
        feeds = {self.x: start}
        first = self.p.run({"h": self.h, "dx": gradients(self.loss, self.x)[0]}, feeds)
        grads = gradients(self.loss, [v.handle for v in trained])
        controls = self.updates if how == "control_dependencies" else []
        with self.p.builder.control_dependencies(controls):
            sgd = Optimizer(
                self.p, "GradientDescent", list(zip(trained, grads, strict=True)), lr=0.1
            )
        targets = [sgd.step, *(self.updates if how == "fetched" else [])]
        steps = []
        for _ in range(3):
            self.p.run([], feeds, targets)
            names = {"moving_mean": self.mean, "moving_variance": self.variance}
            steps.append({n: self.p.value(v).copy() for n, v in names.items()})
        after = [self.p.value(self.gamma), self.p.value(self.beta)]
        return {
            "h_first": first["h"],
            "dloss_dx": first["dx"],
            "steps": steps,
            "gamma_beta_after": after,
        }


NAMES = ("n_update_ops", "update_ops", "variables", "train_op_control_inputs_sample")


@checks("batch_norm_update_ops")
def batch_norm(case: Case) -> None:
    for entry, key in (("2d", "x"), ("4d_fused", "x4")):
        start = case.given("inputs", key)
        for how in case.at(entry):
            _normalised(case, start, True, how, entry, how)
    flat = case.given("inputs", "x")
    _normalised(case, flat, False, "omitted", "training_False")
    _formulas(case, flat)
    _by_hand(case, flat)
    case.skip(NO_COND, "training_placeholder")
    case.skip_each(LAYERS, "scoped_collection_ok", "reuse_adds_second_pair_of_update_ops")
    case.skip(STATISTIC, "max_diff")
    with Program() as p:
        x2 = p.placeholder("x2", shape=(None, 3))
        moving = p.variable("moving", np.zeros(3, np.float32))
        update = moving.update("Assign", call("Mean", x2, ints(0)))
        entry = "update_ops_of_other_net_need_their_feed"
        case.error(lambda: p.run([], targets=[update.ref.op]), entry)


def _normalised(case: Case, start: np.ndarray, training: bool, how: str, *path: str) -> None:
    for key in NAMES:
        case.skip(LAYERS, *path, key)
    within = {"dloss_dx": 2e-7, "gamma_beta_after": 3e-7, "h_first": 1e-6}
    for key in ("h_first", "dloss_dx", "steps", "gamma_beta_after"):
        compare = case.gradient if key == "dloss_dx" else case.value
        compare(
            lambda key=key: _trained(start, training, how)[key], *path, key, within=within.get(key)
        )


def _trained(start: np.ndarray, training: bool, how: str) -> dict[str, Any]:
    with Program() as p:
        return Normalised(p, start, training).train(how, start)


def _formulas(case: Case, flat: np.ndarray) -> None:
    """The recorded NumPy formulas, in float64, against our runs in float32."""
    found = _trained(flat, True, "control_dependencies")
    after = found["steps"][0]
    case.value(found["h_first"].astype(float), "numpy 2d", "h", within=3e-7)
    case.value(after["moving_mean"].astype(float), "numpy 2d", "moving_mean_1", within=1e-8)
    key = "moving_var_1 (biased var)"
    case.value(after["moving_variance"].astype(float), "numpy 2d", key, within=2e-7)
    image = case.given("inputs", "x4")
    entry, key = "numpy 4d fused", "moving_var_1 (Bessel n/(n-1))"
    case.value(
        lambda: _trained(image, True, "fetched")["steps"][0]["moving_variance"].astype(float),
        entry,
        key,
        within=2e-7,
    )
    case.skip("what it is not", entry, "moving_var_1_if_biased")
    case.value(int(np.prod(image.shape[:3])), entry, "n")


def _by_hand(case: Case, start: np.ndarray) -> None:
    """Moving averages that are the last batch's own, assigned by hand."""
    for kind in ("ref", "resource"):
        for how in case.at(f"hand_written_{kind}"):
            with Program(resource=kind == "resource") as p:
                found = _moved(p, start, how)
            case.value(found, f"hand_written_{kind}", how)


def _moved(p: Program, start: np.ndarray, how: str) -> list[Any]:
    x = p.like("x", start)
    w = p.variable("w", np.float32(1))
    moving = [
        p.variable("mean", np.zeros(3, np.float32)),
        p.variable("variance", np.ones(3, np.float32)),
    ]
    mean = call("Mean", x, ints(0))
    variance = call("Mean", call("SquaredDifference", x, mean), ints(0))
    made = [v.update("Assign", y) for v, y in zip(moving, (mean, variance), strict=True)]
    updates = [y.ref.op for y in made]
    if p.resource:
        updates = [o.name for o in p.operations() if o.type == "AssignVariableOp"]
    loss = total(call("Square", x * w.value()))
    with p.builder.control_dependencies(updates if how == "with_control_deps" else []):
        sgd = Optimizer(p, "GradientDescent", [(w, gradients(loss, w.handle)[0])], lr=0.1)
    beside = updates if how.startswith("session.run") else []
    p.run([], {x: start}, [sgd.step, *beside])
    return [p.value(v) for v in moving]
