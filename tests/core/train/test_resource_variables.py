"""Training variables behind handles: TensorFlow's values, names and inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.train.optimizers import Updates, apply_updates
from tests.support import oracle

FORMULAS = oracle.case("optimizer_update_formulas")
GRADIENTS = oracle.array(FORMULAS["inputs"]["g_t (fed)"])
START = oracle.array(FORMULAS["inputs"]["w0"])

# What TensorFlow makes of AdamOptimizer().minimize(loss, name="train") for a resource variable c:
# name -> type, inputs without the gradient. It reads each power once more after its assignment.
RECORDED = {
    "beta1_power": ("VarHandleOp", []),
    "beta2_power": ("VarHandleOp", []),
    "c/Adam": ("VarHandleOp", []),
    "c/Adam_1": ("VarHandleOp", []),
    "train/learning_rate": ("Const", []),
    "train/beta1": ("Const", []),
    "train/beta2": ("Const", []),
    "train/epsilon": ("Const", []),
    "train/update_c/ResourceApplyAdam/ReadVariableOp": ("ReadVariableOp", ["beta1_power"]),
    "train/update_c/ResourceApplyAdam/ReadVariableOp_1": ("ReadVariableOp", ["beta2_power"]),
    "train/update_c/ResourceApplyAdam": (
        "ResourceApplyAdam",
        [
            "c",
            "c/Adam",
            "c/Adam_1",
            "train/update_c/ResourceApplyAdam/ReadVariableOp",
            "train/update_c/ResourceApplyAdam/ReadVariableOp_1",
            "train/learning_rate",
            "train/beta1",
            "train/beta2",
            "train/epsilon",
        ],
    ),
    "train/ReadVariableOp": (
        "ReadVariableOp",
        ["beta1_power", "^train/update_c/ResourceApplyAdam"],
    ),
    "train/mul": ("Mul", ["train/ReadVariableOp", "train/beta1"]),
    "train/AssignVariableOp": ("AssignVariableOp", ["beta1_power", "train/mul"]),
    "train/mul_1": ("Mul", ["train/ReadVariableOp_1", "train/beta2"]),
    "train/AssignVariableOp_1": ("AssignVariableOp", ["beta2_power", "train/mul_1"]),
    "train": (
        "NoOp",
        [
            "^train/AssignVariableOp",
            "^train/AssignVariableOp_1",
            "^train/update_c/ResourceApplyAdam",
        ],
    ),
}


def training(dtype: str, optimizer: str, hyper: dict[str, float]) -> tuple[GraphBuilder, Updates]:
    """The gradient of sum(fed * c) with respect to c is what is fed."""
    b = GraphBuilder()
    kind = DType(dtype)
    fed = b.placeholder("fed", kind, (3,))
    handle = b.one("VarHandleOp", name="c", dtype=kind, shape=Shape((3,)), shared_name="c")
    product = b.one("Mul", fed, b.one("ReadVariableOp", handle, dtype=kind))
    b.one("Sum", product, np.int32(0), name="loss")
    derived = differentiate(b.build(), GradientRequest.to("loss", "c"))
    builder = GraphBuilder(derived.graph)
    gradient = builder.get(derived.gradients[TensorRef("c")])
    return builder, apply_updates(builder, optimizer, hyper, [("c", gradient)])


@pytest.mark.parametrize(
    ("run", "optimizer", "hyper"),
    [
        ("GradientDescent(0.1)", "GradientDescent", {"learning_rate": 0.1}),
        ("Adam(0.1)", "Adam", {"learning_rate": 0.1}),
        ("Adam(0.001,eps=0.1) (tutorial)", "Adam", {"learning_rate": 0.001, "epsilon": 0.1}),
    ],
)
def test_steps_are_the_recorded_ones(run: str, optimizer: str, hyper: dict[str, float]) -> None:
    builder, updates = training("float64", optimizer, hyper)
    session = Session(builder.build(), initial={**updates.initial, "c": START})
    recorded = FORMULAS["runs"][f"{run}/float64/resource"]["steps"]
    for gradient, step in zip(GRADIENTS, recorded, strict=True):
        session.run([], {"fed": gradient}, updates.targets)
        found = [session.store[name] for name in ("c", *updates.slots.get("c", ()))]
        wanted = [oracle.array(step["w"]), *map(oracle.array, step["slots"].values())]
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-17)


def test_names_and_inputs_are_those_of_tensorflow() -> None:
    builder, _ = training("float32", "Adam", {})
    made = {op.name: op for op in builder.build() if op.phase is Phase.UPDATE}
    for name, (type, inputs) in RECORDED.items():
        op = made[name]
        written: list[Any] = [ref.short for ref in op.inputs if ref is not None]
        written = written[: len(inputs)] + [f"^{other}" for other in op.control_inputs]
        assert (op.type, written) == (type, inputs)
    assert set(made) - set(RECORDED) == {"train/ReadVariableOp_1"}


def test_both_kinds_of_variables_train_together() -> None:
    b = GraphBuilder()
    b.variable("r", shape=(2,))
    b.one("VarHandleOp", name="h", dtype=DType.FLOAT32, shape=Shape((2,)))
    gradient = b.constant([1.0, -2.0])
    pairs = {
        "first": [("r", gradient), ("h", gradient)],
        "last": [("h", gradient), ("r", gradient)],
    }
    for name in pairs:
        builder = GraphBuilder(b.build())
        updates = apply_updates(builder, "Adam", {"learning_rate": 0.1}, pairs[name])
        session = Session(builder.build(), initial={**updates.initial, "r": [0, 0], "h": [0, 0]})
        for _ in range(2):
            session.run([], targets=updates.targets)
        np.testing.assert_array_equal(session.store["r"], session.store["h"])
        np.testing.assert_allclose(session.store["r"], [-0.2, 0.2], rtol=1e-5)
