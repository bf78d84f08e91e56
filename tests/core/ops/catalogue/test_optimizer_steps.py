"""The ops of TensorFlow's optimizers against its recorded runs, and their forms by rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.definition import OpDef
from gradstep.core.ops.declare.optimizer_table import RULES
from gradstep.core.ops.declare.table import lookup
from tests.support import oracle
from tests.support.each_case import each_of

CASE = oracle.case("optimizer_update_formulas")

# Recorded run -> the op without its prefix, what the slots start as in the op's order (with the
# name that they are recorded under), and the other inputs in order; "grad" is the gradient.
RECORDED: dict[str, tuple[str, dict[str, float], dict[str, Any], dict[str, Any]]] = {
    "Momentum(0.1,0.9)": (
        "ApplyMomentum",
        {"momentum": 0},
        {"lr": 0.1, "grad": None, "momentum": 0.9},
        {},
    ),
    "Momentum(0.1,0.9,nesterov)": (
        "ApplyMomentum",
        {"momentum": 0},
        {"lr": 0.1, "grad": None, "momentum": 0.9},
        {"use_nesterov": True},
    ),
    "Adagrad(0.1)": ("ApplyAdagrad", {"accumulator": 0.1}, {"lr": 0.1, "grad": None}, {}),
    "Adadelta(1.0)": (
        "ApplyAdadelta",
        {"accum": 0, "accum_update": 0},
        {"lr": 1.0, "rho": 0.95, "epsilon": 1e-8, "grad": None},
        {},
    ),
    "RMSProp(0.1)": (
        "ApplyRMSProp",
        {"rms": 1, "momentum": 0},
        {"lr": 0.1, "rho": 0.9, "momentum": 0, "epsilon": 1e-10, "grad": None},
        {},
    ),
    "RMSProp(0.1,decay=.8,momentum=.5,eps=1e-3)": (
        "ApplyRMSProp",
        {"rms": 1, "momentum": 0},
        {"lr": 0.1, "rho": 0.8, "momentum": 0.5, "epsilon": 1e-3, "grad": None},
        {},
    ),
    "RMSProp(0.1,momentum=.5,centered)": (
        "ApplyCenteredRMSProp",
        {"mg": 0, "rms": 1, "momentum": 0},
        {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 1e-3, "grad": None},
        {},
    ),
    "Ftrl(0.1,l1=.01,l2=.01)": (
        "ApplyFtrl",
        {"accum": 0.1, "linear": 0},
        {"grad": None, "lr": 0.1, "l1": 0.01, "l2": 0.01, "lr_power": -0.5},
        {},
    ),
    "ProximalGradientDescent(0.1,l1=.05)": (
        "ApplyProximalGradientDescent",
        {},
        {"lr": 0.1, "l1": 0.05, "l2": 0, "grad": None},
        {},
    ),
    "ProximalAdagrad(0.1)": (
        "ApplyProximalAdagrad",
        {"accumulator": 0.1},
        {"lr": 0.1, "l1": 0, "l2": 0, "grad": None},
        {},
    ),
    "AdagradDA": (
        "ApplyAdagradDA",
        {"gradient_accumulator": 0, "gradient_squared_accumulator": 0.1},
        {"grad": None, "lr": 0.1, "l1": 0, "l2": 0, "step": np.int64(0)},
        {},
    ),
}


def session_of(type: str, state: dict[str, np.ndarray], inputs: list[Any], **attrs: Any) -> Session:
    """A session in which operation `it` updates variables that start as `state`; an input that is
    a string is fed by that name."""
    b = GraphBuilder()
    kind = "VarHandleOp" if type.startswith("Resource") else "VariableV2"
    dtype = DType.of(next(iter(state.values())).dtype)
    held = [b.one(kind, name=n, dtype=dtype, shape=Shape(x.shape)) for n, x in state.items()]
    given = [
        b.placeholder(x, "int32" if x == "indices" else dtype) if isinstance(x, str) else x
        for x in inputs
    ]
    b.op(type, *held, *given, name="it", **attrs)
    return Session(b.build(), initial=state)


# TensorFlow's Python refuses to build some of them for float64.
BUILT = [
    (name, form)
    for name in RECORDED
    for form in ("float32/ref", "float64/ref", "float64/resource")
    if "raised" not in CASE["runs"][f"{name}/{form}"]
]


@each_of(("name", "form"), BUILT)
def test_three_recorded_steps(name: str, form: str) -> None:
    run = CASE["runs"][f"{name}/{form}"]
    op, slots, values, attrs = RECORDED[name]
    dtype, kind = form.split("/")
    # Hyper-parameters are float32 whatever the variable is, as in TensorFlow's optimizers.
    inputs = [
        "g" if v is None else v if isinstance(v, np.integer) else np.float32(v).astype(dtype)
        for v in values.values()
    ]
    start = oracle.array(CASE["inputs"]["w0"]).astype(dtype)
    state = {"w": start, **{f"s/{n}": np.full_like(start, x) for n, x in slots.items()}}
    session = session_of(f"{'Resource' * (kind == 'resource')}{op}", state, inputs, **attrs)
    exact = {"rtol": 2e-6} if dtype == "float32" else {"rtol": 1e-12}
    fed = oracle.array(CASE["inputs"]["g_t (fed)"])
    for gradient, step in zip(fed.astype(dtype), run["steps"], strict=True):
        session.run([], {"g": gradient}, ["it"])
        np.testing.assert_allclose(session.store["w"], step["w"]["data"], **exact, atol=1e-12)
        for slot, value in step["slots"].items():
            found = session.store[f"s/{slot}"]
            np.testing.assert_allclose(found, value["data"], **exact, atol=1e-12, err_msg=slot)


SPARSE = [f"{form}Apply{r.name}" for r in RULES for form in r.forms if "Sparse" in form]


def sparse_inputs(definition: OpDef, state: list[str]) -> list[Any]:
    """Hyper-parameters; "grad" and "indices" are fed."""
    numbers = {"momentum": 0.9, "rho": 0.8, "lr_power": -0.5, "epsilon": 1e-3}
    found: list[Any] = []
    for spec in definition.inputs[len(state) :]:
        if spec.name in ("grad", "indices"):
            found.append(spec.name)
        elif spec.name == "global_step":
            found.append(np.int64(2))
        else:
            found.append(np.float64(numbers.get(spec.name, 0.05)))
    return found


def sparse_session(type: str) -> Session:
    definition = lookup(type)
    names = [definition.inputs[i].name for i in definition.state.writes]
    rng = np.random.default_rng(5)
    state = {name: rng.uniform(0.5, 1, (4, 2)) for name in names}
    state = {name: x if name != "mg" else x * 0.1 for name, x in state.items()}
    return session_of(type, state, sparse_inputs(definition, names))


@each_of("type", SPARSE)
def test_a_row_named_twice_takes_two_steps(type: str) -> None:
    """As TensorFlow's kernels do; its optimizers sum equal rows before."""
    gradients = np.random.default_rng(2).normal(size=(3, 2))
    at_once, in_turn = sparse_session(type), sparse_session(type)
    at_once.run([], {"grad": gradients, "indices": [2, 0, 2]}, ["it"])
    for row, index in zip(gradients, [2, 0, 2], strict=True):
        in_turn.run([], {"grad": row[None], "indices": [index]}, ["it"])
    assert len(at_once.store) == len(lookup(type).state.writes)
    for name, value in at_once.store.items():
        np.testing.assert_array_equal(value, in_turn.store[name], err_msg=name)


@each_of("type", SPARSE)
def test_rows_that_are_not_named_stay(type: str) -> None:
    session = sparse_session(type)
    before = {name: np.array(value) for name, value in session.store.items()}
    session.run([], {"grad": np.ones((1, 2)), "indices": [1]}, ["it"])
    for name, value in session.store.items():
        np.testing.assert_array_equal(value[[0, 2, 3]], before[name][[0, 2, 3]])
    assert not np.array_equal(session.store["var"][1], before["var"][1])


# Words of TensorFlow 2.21's SparseApplyMomentum.
@each_of(
    ("grad", "indices", "message"),
    [
        (np.ones((2, 2)), [0, 4], "Index 4 at offset 1 in indices is out of range"),
        (np.ones((2, 2)), [0, -1], "Index -1 at offset 1 in indices is out of range"),
        (np.ones((2, 2)), [[0, 1]], "indices must be one-dimensional"),
        (np.ones((2, 3)), [0, 1], "var and grad must match in dimension 1"),
        (
            np.ones((2, 2)),
            [0],
            "grad must be the same size as indices in the first dimension.",
        ),
    ],
)
@each_of("type", ["SparseApplyMomentum", "ResourceSparseApplyAdagrad"])
def test_rows_that_do_not_fit_change_nothing(
    type: str, grad: np.ndarray, indices: Any, message: str
) -> None:
    session = sparse_session(type)
    before = {name: np.array(value) for name, value in session.store.items()}
    with pytest.raises(GradstepError) as caught:
        session.run([], {"grad": grad, "indices": indices}, ["it"])
    assert caught.value.message == message
    for name, value in session.store.items():
        np.testing.assert_array_equal(value, before[name])


def test_a_scalar_has_no_rows() -> None:
    one = {"var": np.array(1.0), "accum": np.array(1.0)}
    with pytest.raises(GradstepError, match="var must be at least 1 dimensional"):
        session_of("SparseApplyAdagrad", one, [np.float64(0.1), "grad", "indices"])


def test_what_asks_which_number_is_larger_takes_no_complex_ones() -> None:
    b = GraphBuilder()
    var, accum, linear = (b.variable(n, "complex64", (2,)) for n in ("var", "accum", "linear"))
    rates = [b.constant(np.complex64(x)) for x in (0.1, 0.0, 0.0, -0.5)]
    grad = b.constant(np.ones(2, np.complex64))
    with pytest.raises(GradstepError, match="takes real floating-point numbers, not complex64"):
        b.op("ApplyFtrl", var, accum, linear, grad, *rates)
