"""Batch normalisation: moments, moving averages, and the three ways to update them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import call
from tests.oracle.program import Program
from tests.oracle.shorthand import ints, total
from tests.oracle.stepping import Optimizer
from tests.oracle.table import STATISTIC, Case, checks
from tests.support.rounding import Rounding


class Normalised:
    """loss = mean((w h - 1)²), h = batch_normalization(x), gradient descent at 0.1."""

    def __init__(self, p: Program, start: np.ndarray, training: Any) -> None:
        self.p = p
        self.x = p.like("x", start)
        self.h = tf.layers.batch_normalization(self.x, training=training, name="bn")
        self.w = tf.Variable(np.float32(1), name="w")
        self.updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        self.loss = total(call("Square", self.h * self.w - 1.0), "Mean")

    def moving(self) -> dict[str, Any]:
        names = ("moving_mean", "moving_variance")
        return {n: self.p.session.store[f"bn/{n}"].copy() for n in names}

    def train(self, how: str, start: np.ndarray) -> dict[str, Any]:
        """Three steps; the updates left out, under control dependencies, or fetched beside."""
        trained = tf.trainable_variables()
        feeds = {self.x: start}
        first = self.p.run({"h": self.h, "dx": gradients(self.loss, self.x)[0]}, feeds)
        grads = gradients(self.loss, [v.handle for v in trained])
        controls = self.updates if how == "control_dependencies" else []
        with tf.control_dependencies(controls):
            sgd = self.p.apply(
                "GradientDescent", list(zip(trained, grads, strict=True)), learning_rate=0.1
            )
        targets = [*sgd.targets, *(u.ref.op for u in self.updates if how == "fetched")]
        steps = []
        for _ in range(3):
            self.p.run([], feeds, targets)
            steps.append(self.moving())
        store = self.p.session.store
        moved = {u.ref.op for u in self.updates}
        waited = {n for op in self.p.operations() for n in op.control_inputs if n in moved}
        return {
            "h_first": first["h"],
            "dloss_dx": first["dx"],
            "steps": steps,
            "gamma_beta_after": [store["bn/gamma"], store["bn/beta"]],
            "n_update_ops": len(self.updates),
            "update_ops": [f"{u.ref.op}:{u.op.type}" for u in self.updates],
            "variables": [[v.name, v.trainable] for v in tf.global_variables()],
            "train_op_control_inputs_sample": sorted(waited),
        }


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
    _decided_when_it_runs(case, flat)
    _shared(case)
    case.skip(STATISTIC, "max_diff")
    with Program() as p:
        x2 = p.placeholder("x2", shape=(None, 3))
        moving = p.variable("moving", np.zeros(3, np.float32))
        update = moving.update("Assign", call("Mean", x2, ints(0)))
        entry = "update_ops_of_other_net_need_their_feed"
        case.error(lambda: p.run([], targets=[update.ref.op]), entry)


def _normalised(case: Case, start: np.ndarray, training: bool, how: str, *path: str) -> None:
    found = _trained(start, training, how)
    sums = _sums(start)
    after = sums.of(steps=3 * sums.steps, size=1.0)  # three updates of numbers near 1
    # What arrives at h, of which dx is what is left without its mean and its part along h.
    upstream = 2 * float(np.max(np.abs(found["h_first"] - 1))) / start.size
    back = sums.of(size=upstream)
    rounding = {"dloss_dx": back, "gamma_beta_after": after, "h_first": sums, "steps": sums}
    for key, value in found.items():
        compare = case.gradient if key == "dloss_dx" else case.value
        compare(value, *path, key, rounding=rounding.get(key))


def _sums(x: np.ndarray) -> Rounding:
    """Mean, variance and what is made of both, each over all but the last axis."""
    return Rounding(terms=x.size // x.shape[-1], steps=3)


def _decided_when_it_runs(case: Case, start: np.ndarray) -> None:
    """`training` is a placeholder: the updates move the averages only where it is true."""
    entry = "training_placeholder"
    with Program() as p:
        training = p.placeholder("training", "bool", ())
        net = Normalised(p, start, training)
        case.graph(len(net.updates), entry, "n_update_ops")
        updates = [u.ref.op for u in net.updates]
        for flag, key in ((False, "moving_mean_after_False"), (True, "after_True")):
            p.run([], {net.x: start, training: flag}, updates)
            case.value(net.moving()["moving_mean"], entry, key)
        for flag in (False, True):
            h = p.run(net.h, {net.x: start, training: flag})
            case.value(h[0], entry, f"h_{flag}", rounding=_sums(start))
    case.skip("reference switches and all: TensorFlow's Python writes its own cond", entry, "ops")


def _shared(case: Case) -> None:
    """Reuse shares the variables, and makes updates anew."""
    with Program() as p:
        x = p.placeholder("x", shape=(None, 3))
        for name, reuse in (("A", None), ("B", None), ("A", True)):
            with tf.variable_scope(name, reuse=reuse):
                tf.layers.batch_normalization(x, training=True)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        case.graph([u.ref.op for u in updates], "reuse_adds_second_pair_of_update_ops")
        in_scope = tf.get_collection(tf.GraphKeys.UPDATE_OPS, "A/")
        names = [u.ref.op for u in in_scope]
        entry = "scoped_collection_ok"
        both = ["A/batch_normalization/AssignMovingAvg", "A/batch_normalization/AssignMovingAvg_1"]
        case.value(None if names == both else names, entry)


def _trained(start: np.ndarray, training: bool, how: str) -> dict[str, Any]:
    with Program() as p:
        return Normalised(p, start, training).train(how, start)


def _formulas(case: Case, flat: np.ndarray) -> None:
    """The recorded NumPy formulas, in float64, against our runs in float32."""
    found = _trained(flat, True, "control_dependencies")
    after = found["steps"][0]
    narrow = _sums(flat).of(dtype=np.float32)
    case.value(found["h_first"].astype(float), "numpy 2d", "h", rounding=narrow)
    case.value(after["moving_mean"].astype(float), "numpy 2d", "moving_mean_1", rounding=narrow)
    key = "moving_var_1 (biased var)"
    case.value(after["moving_variance"].astype(float), "numpy 2d", key, rounding=narrow)
    image = case.given("inputs", "x4")
    entry, key = "numpy 4d fused", "moving_var_1 (Bessel n/(n-1))"
    case.value(
        lambda: _trained(image, True, "fetched")["steps"][0]["moving_variance"].astype(float),
        entry,
        key,
        rounding=narrow,
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
