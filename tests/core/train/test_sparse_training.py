"""Training with gradients that are rows: TensorFlow's updates, for ref and resource variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Phase, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.program.derive import derive
from gradstep.core.train.optimizers import Updates, apply_updates
from gradstep.core.train.unique_rows import sum_duplicate_rows

W = np.array([[1, -2], [0.5, 3], [-1, 0.25], [2, -0.5]], np.float32)
WEIGHTS = np.array([[1, 2], [3, -1], [0.5, 1], [-2, 0.5], [1, 1]], np.float32)
IDS = np.array([3, 0, 3, 3, 1], np.int32)

_L = {"l1_regularization_strength": 0.05, "l2_regularization_strength": 0.02}
# The variable after three steps on sum(gather(w, IDS)**2 * WEIGHTS): TensorFlow 2.21's, the same
# for its ref and its resource variables. Row 3 is taken three times, row 2 never.
TENSORFLOW: list[tuple[str, dict[str, float], list[list[float]]]] = [
    (
        "GradientDescent",
        {"learning_rate": 0.1},
        [[0.06399999, -3.456], [0.25599998, 1.536], [-1.0, 0.25], [2.6620002, -0.013499999]],
    ),
    (
        "Adam",
        {"learning_rate": 0.1},
        [[0.70158726, -2.3003511], [0.20487233, 2.7003827], [-1.0, 0.25], [2.3003511, -0.20487225]],
    ),
    (
        "Adam",
        {"learning_rate": 0.01, "beta1": 0.8, "beta2": 0.9, "epsilon": 0.1},
        [[0.9711944, -2.0282745], [0.47592983, 2.9711843], [-1.0, 0.25], [2.0267394, -0.47200006]],
    ),
    (
        "Momentum",
        {"learning_rate": 0.1, "momentum": 0.9},
        [[-0.85399985, -4.644], [0.031000003, 0.18600011], [-1.0, 0.25], [3.2199998, 0.459]],
    ),
    (
        "Momentum",
        {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": True},
        [
            [-0.30406398, -6.441984],
            [-0.054175988, -0.32505584],
            [-1.0, 0.25],
            [3.901678, 0.08600849],
        ],
    ),
    (
        "Adagrad",
        {"learning_rate": 0.1},
        [[0.7806637, -2.2318833], [0.2975196, 2.774572], [-1.0, 0.25], [2.2304492, -0.29146966]],
    ),
    (
        "Adadelta",
        {"learning_rate": 1.0},
        [[0.99864346, -2.001357], [0.49864376, 2.9986432], [-1.0, 0.25], [2.001357, -0.49864376]],
    ),
    (
        "RMSProp",
        {"learning_rate": 0.1},
        [[0.41156197, -2.667743], [0.2516732, 2.342715], [-1.0, 0.25], [2.5097556, -0.07177323]],
    ),
    (
        "RMSProp",
        {"learning_rate": 0.1, "momentum": 0.5, "centered": True},
        [
            [0.094558656, -3.047382],
            [0.14244916, 1.9625487],
            [-1.0, 0.25],
            [2.7665796, 0.12299132],
        ],
    ),
    (
        "Ftrl",
        {"learning_rate": 0.1, **_L, "l1_regularization_strength": 0.01},
        [[0.73103476, -2.0677426], [0.17514817, 2.617988], [-1.0, 0.25], [1.9048417, -0.2535969]],
    ),
    (
        "ProximalGradientDescent",
        {"learning_rate": 0.1, **_L},
        [[0.05584026, -3.4172237], [0.2423152, 1.514666], [-1.0, 0.25], [2.6296098, -0.006487975]],
    ),
    (
        "ProximalAdagrad",
        {"learning_rate": 0.1, **_L},
        [[0.7781288, -2.226593], [0.28525624, 2.7705057], [-1.0, 0.25], [2.2199376, -0.28785285]],
    ),
]


def lookup_loss(resource: bool) -> GraphBuilder:
    """`loss` of the rows IDS of the variable `w`."""
    b = GraphBuilder()
    kind = {"dtype": DType.FLOAT32, "shape": Shape(W.shape)}
    w = b.one("VarHandleOp" if resource else "VariableV2", name="w", **kind)
    ids = b.constant(IDS)
    if resource:
        rows = b.one("ResourceGather", w, ids, dtype=DType.FLOAT32)
    else:
        rows = b.one("GatherV2", w, ids, np.array(0, np.int32))
    b.one("Sum", rows * rows * WEIGHTS, np.array([0, 1], np.int32), name="loss")
    return b


def looped_loss() -> GraphBuilder:
    """The same, one row an iteration."""
    b = GraphBuilder()
    with b.as_default():
        w = b.variable("w", shape=list(W.shape))
        ids, weights = b.constant(IDS), b.constant(WEIGHTS)

        def body(i: Tensor, sofar: Tensor) -> tuple[Tensor, Tensor]:
            row = tf.gather(w, tf.gather(ids, i))
            return i + 1, sofar + tf.reduce_sum(row * row * tf.gather(weights, i))

        tf.identity(tf.while_loop(lambda i, _: i < len(IDS), body, (0, 0.0))[1], name="loss")
    return b


def rows_of(builder: GraphBuilder, derived: Differentiation) -> IndexedSlices:
    found = derived.slices[TensorRef("w")]
    shape = np.array(W.shape, np.int32)
    return IndexedSlices(builder.get(found.values), builder.get(found.indices), shape)


def trained(
    type: str, hyper: dict[str, float], resource: bool, dense: bool = False
) -> tuple[Session, Updates]:
    derived = differentiate(lookup_loss(resource).build(), GradientRequest.to("loss", "w"))
    builder = GraphBuilder(derived.graph)
    rows = rows_of(builder, derived)
    gradient = builder.get(derived.gradients[TensorRef("w")]) if dense else rows
    updates = apply_updates(builder, type, hyper, [("w", gradient)])
    return Session(builder.build(), initial={**updates.initial, "w": W}), updates


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(("type", "hyper", "wanted"), TENSORFLOW)
def test_three_steps_are_tensorflows(
    type: str, hyper: dict[str, float], wanted: list[list[float]], resource: bool
) -> None:
    session, updates = trained(type, hyper, resource)
    for _ in range(3):
        session.run([], targets=updates.targets)
    np.testing.assert_allclose(session.store["w"], wanted, rtol=3e-6, atol=1e-7)


@pytest.mark.parametrize("resource", [False, True])
def test_adam_by_rows_is_adam(resource: bool) -> None:
    """The moments decay in every row, so the whole variable moves as with a dense gradient."""
    stores = []
    for dense in (False, True):
        session, updates = trained("Adam", {"learning_rate": 0.1}, resource, dense)
        for _ in range(4):
            session.run([], targets=updates.targets)
        stores.append(session.store)
    assert set(stores[0]) == set(stores[1])
    for name, value in stores[0].items():
        np.testing.assert_allclose(value, stores[1][name], rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("loss", [partial(lookup_loss, False), looped_loss])
def test_momentum_by_rows_leaves_the_other_rows_alone(loss: Callable[[], GraphBuilder]) -> None:
    """TensorFlow's own warning: a row that is not taken keeps its momentum and does not move."""
    hyper = {"learning_rate": 0.1, "momentum": 0.9}
    derived = differentiate(loss().build(), GradientRequest.to("loss", "w"))
    builder = GraphBuilder(derived.graph)
    updates = apply_updates(builder, "Momentum", hyper, [("w", rows_of(builder, derived))])
    moving = {**updates.initial, "w": W, "w/Momentum": np.ones_like(W)}
    session = Session(builder.build(), initial=moving)
    session.run([], targets=updates.targets)
    assert session.store["w"][2].tolist() == W[2].tolist()
    assert session.store["w/Momentum"][2].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("type", "resource", "wanted"),
    [
        ("GradientDescent", False, {"ScatterSub"}),
        ("GradientDescent", True, {"ResourceScatterAdd"}),
        ("Adam", False, {"Unique", "UnsortedSegmentSum", "ScatterAdd", "AssignSub", "Assign"}),
        ("Adam", True, {"Unique", "ResourceScatterAdd", "AssignSubVariableOp", "ReadVariableOp"}),
        ("Momentum", True, {"Unique", "UnsortedSegmentSum", "ResourceSparseApplyMomentum"}),
    ],
)
def test_the_updates_are_tensorflows_ops(type: str, resource: bool, wanted: set[str]) -> None:
    hyper = {"learning_rate": 0.1, **({"momentum": 0.9} if type == "Momentum" else {})}
    session, _ = trained(type, hyper, resource)
    updating = [op for op in session.graph if op.phase is Phase.UPDATE]
    assert wanted <= {op.type for op in updating}
    assert not any(op.type.endswith("ApplyAdam") for op in updating)
    assert {op.origin for op in updating} <= {"w", "beta1_power", "beta2_power"}


def test_powers_move_after_the_rows() -> None:
    session, updates = trained("Adam", {}, resource=False)
    session.run([], targets=updates.targets)
    assert session.store["beta1_power"] == np.float32(0.9) * np.float32(0.9)


def test_rows_are_summed_in_the_order_they_come_in() -> None:
    b = GraphBuilder()
    values, indices = b.constant(WEIGHTS), b.constant(IDS)
    unique = sum_duplicate_rows(IndexedSlices(values, indices, np.array(W.shape, np.int32)))
    found = Session(b.build()).run([unique.values.ref, unique.indices.ref])
    assert found[0].tolist() == [[-0.5, 3.5], [3, -1], [1, 1]]
    assert found[1].tolist() == [3, 0, 1]


@pytest.mark.parametrize("type", ["Adam", "GradientDescent", "Adagrad"])
def test_a_document_trains_by_rows(type: str) -> None:
    document = Document(
        graph=lookup_loss(False).build(),
        request=GradientRequest.to("loss", "w"),
        initial={"w": Constant(W)},
        optimizers=(Optimizer(type, {"learning_rate": 0.1}),),
    )
    program = derive(document)
    assert program.problems == ()
    assert "ApplyAdam" not in {op.type for op in program.graph}
    session = Session(program.graph, initial=program.initial)
    for _ in range(3):
        session.run([], targets=program.targets)
    wanted = next(w for name, hyper, w in TENSORFLOW if name == type and len(hyper) == 1)
    np.testing.assert_allclose(session.store["w"], wanted, rtol=3e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("type", "hyper", "said"),
    [
        ("Momentum", {"learning_rate": 0.1}, "Momentum needs a momentum"),
        ("Adagrad", {"learning_rate": 0.1, "rho": 1}, "Adagrad has no hyper-parameter 'rho'"),
        ("Nadam", {}, "there is no optimizer 'Nadam'"),
    ],
)
def test_hyper_parameters_are_those_of_tensorflow(
    type: str, hyper: dict[str, Any], said: str
) -> None:
    with pytest.raises(GradstepError, match=said):
        trained(type, hyper, resource=False)
