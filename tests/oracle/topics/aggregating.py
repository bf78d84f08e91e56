"""Center loss, and towers whose gradients are added."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.model import TensorRef
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_table import find_block
from gradstep.core.layers.metric_losses import center_loss
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from tests.oracle.program import Program
from tests.oracle.reasons import DEVICES
from tests.oracle.shorthand import ints, total
from tests.oracle.table import DOCUMENTATION, STATISTIC, Case, checks
from tests.support.rounding import Rounding, of_ratio

PYTHON = "lists in the program's Python, not the graph"


@checks("center_loss")
def centers(case: Case) -> None:
    for dtype in ("float32", "float64"):
        for form in ("facenet", "paper"):
            case.value(_center_steps(case, dtype, form), dtype, form)
        with Program() as p:
            features, labels, loss, _ = _center_loss(case, p, dtype, "facenet")
            (c,) = tf.global_variables()
            feeds = _center_feeds(case, dtype, features, labels)
            p.run(loss, feeds)
            case.value(p.session.store["centers"], dtype, "update_not_fetched", "centers")
            df, dc = gradients(loss, [features, c.handle])
            case.gradient(p.run(df, feeds), dtype, "dloss_dfeatures")
            assert isinstance(dc, IndexedSlices)
            case.graph(type(dc).__name__, dtype, "dloss_dcenters_type")
            case.gradient(p.run(dc.dense(), feeds), dtype, "dloss_dcenters_dense")
            case.graph(c in tf.trainable_variables(), dtype, "in_trainable_variables")
    _updated_first(case)
    case.skip_each(STATISTIC, "numpy_max_diff_facenet", "numpy_max_diff_paper")
    case.skip(DOCUMENTATION, "graph")


def _center_feeds(case: Case, dtype: str, features: Tensor, labels: Tensor) -> dict[Any, Any]:
    start = case.given("inputs", "features").astype(dtype)
    return {features: start, labels: case.given("inputs", "labels")}


def _center_loss(
    case: Case, p: Program, dtype: str, form: str
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The block's loss, and its update of the centers."""
    start = case.given("inputs", "features").astype(dtype)
    alpha = case.given("inputs", "alpha")
    features = p.like("features", start)
    labels = p.placeholder("labels", "int32", (len(start),))
    loss = center_loss(features, labels, classes=4, alpha=alpha, form=form)
    (update,) = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return features, labels, loss, update


def _center_steps(case: Case, dtype: str, form: str) -> dict[str, Any]:
    with Program() as p:
        features, labels, loss, update = _center_loss(case, p, dtype, form)
        feeds = _center_feeds(case, dtype, features, labels)
        steps = []
        for _ in range(3):
            before = p.run(loss, feeds)
            steps.append(
                {"loss_before": before, "returned_by_update_op": p.run(update, feeds).copy()}
            )
        return {"steps": steps, "centers_after_3": p.session.store["centers"]}


def _updated_first(case: Case) -> None:
    """A loss built under a control dependency on the update sees the updated centers."""
    with Program() as p:
        c = p.variable("c", np.zeros((1, 2), np.float32))
        f = p.builder.constant(np.ones((1, 2), np.float32))
        row, zero = ints(0), np.array(0, np.int32)
        update = c.update("ScatterSub", row, call("GatherV2", c.read, row, zero) - f)
        with p.builder.control_dependencies([update.ref.op]):
            own = call("GatherV2", c.read, p.builder.constant(row), zero)
        loss = total(call("Square", f - own))
        value = p.run(loss)
        entry = "loss_built_under_control_dep_sees_updated_centers"
        case.value([value, p.value(c)[0]], entry)


@checks("data_parallel_towers")
def data_parallel(case: Case) -> None:
    for kind, name in (("SGD", "GradientDescent"), ("Adam", "Adam")):
        merged: dict[int, Any] = {}
        moved: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # from and to
        for entry in case.at(kind):
            if "tower" not in entry:
                continue
            count = int(entry.split()[0])
            found = _towers(case, name, count)
            merged[count] = found["merged"]["net/w:0"]
            moved[count] = case.given("inputs", "w"), found["after"]["net/w:0"]
            rows = Rounding(terms=len(case.at("inputs", "x", "data")), steps=3)
            case.gradient(found, kind, entry, rounding=rows)
        case.gradient(merged[2] / merged[1], kind, "merged(2)/merged(1)")
        ratio = np.subtract(*moved[2]) / np.subtract(*moved[1])
        rounding = of_ratio(moved[2], moved[1])
        case.value(ratio, kind, "step(2)/step(1)", rounding=rounding)
    _misaligned(case)
    with Program() as p:
        v = p.builder.constant(np.zeros((3, 2)))
        parts = [
            gradients(call("GatherV2", v, ints(*i), np.array(0, np.int32)) * s, v)[0]
            for i, s in (((0, 1), 1.0), ((1,), 2.0))
        ]
        whole = [g.dense() for g in parts if isinstance(g, IndexedSlices)]
        case.value(p.run(call("AddN", *whole)), "IndexedSlices merged value")
        case.skip(PYTHON, "IndexedSlices in tf.stack")
    case.skip(DEVICES, "device strings")


def _towers(case: Case, kind: str, count: int) -> dict[str, Any]:
    """Each tower's mean loss over its share of the rows; gradients are added, and applied once."""
    x, y = (case.given("inputs", key) for key in "xy")
    with Program() as p:
        loss = _network_loss(p, x, y, case.given("inputs", "w"))
        variables = tf.trainable_variables()
    losses, whole = [loss], loss
    if count > 1:
        p, losses, whole, loss = _split(p, loss, count)
    with p:
        handles = [p.builder.get(v.handle.ref) for v in variables]
        pairs = list(zip(variables, gradients(whole, handles), strict=True))
        each = [gradients(one, handles) for one in losses]
        updates = p.apply(kind, pairs, learning_rate=0.1)
        step = p.variable("global_step", np.int64(0))
        with p.builder.control_dependencies(updates.targets):
            counted = step.update("AssignAdd", np.int64(1)).ref.op
        merged = {v.name: g for v, g in pairs if g is not None}
        feeds = {"x:0": x, "y:0": y}
        found = p.run({"loss": loss, "merged": merged, "per_tower": each}, feeds)
        p.run([], feeds, targets=[counted])
        after = {v.name: p.session.store[v.handle.ref.op] for v in variables}
        return {**found, "after": after, "global_step": p.value(step)}


def _network_loss(p: Program, x: np.ndarray, y: np.ndarray, start: np.ndarray) -> Tensor:
    rows, wanted = p.like("x", x), p.like("y", y)
    with tf.variable_scope("net"):
        w = tf.get_variable("w", initializer=start)
        b = tf.get_variable("b", initializer=np.zeros(2))
        tf.get_variable("unused", initializer=np.zeros(2))
    return total(call("Square", call("MatMul", rows, w) + b - wanted), "Mean")


def _split(p: Program, loss: Tensor, count: int) -> tuple[Program, list[Tensor], Tensor, Tensor]:
    """The block's: a program with the towers' losses, their sum and their mean."""
    settings = {"network": str(loss.ref), "towers": count, "combine": "mean"}
    sources = [TensorRef("x"), TensorRef("y")]
    made = expand(p.builder.build(), find_block("towers"), sources, settings=settings)
    added = next(made.graph[n] for n in made.operations if made.graph[n].type == "AddN")
    (mean,) = made.outputs
    wide = Program(made.graph, p.builder.variables.initial)
    losses = [wide.builder.get(ref) for ref in added.inputs if ref is not None]
    return wide, losses, wide.builder.get(added.output()), wide.builder.get(mean)


def _misaligned(case: Case) -> None:
    entry = "misaligned None"
    with Program() as p:
        a, b = (p.variable(n, np.float32(1)) for n in ("a", "b"))
        grads = [
            gradients(y, [a.handle, b.handle]) for y in (2.0 * a.read + 3.0 * b.read, 5.0 * b.read)
        ]
        sums = [[g[i] for g in grads if g[i] is not None] for i in (0, 1)]
        found = p.run({"a": sums[0][0], "b": tf.add_n(sums[1])})
        case.gradient({k: float(v) for k, v in found.items()}, entry, "correct")
    for key in ("tower0: 2a+3b, tower1: 5b", "order swapped"):
        case.skip(PYTHON, entry, key)
