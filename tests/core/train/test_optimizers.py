"""Updates against TensorFlow's: values step by step, names, order, element types."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.train.optimizers import Updates, apply_updates
from tests.support.rounding import Rounding, assert_rounded_alike

ORACLE = Path(__file__).parents[2] / "data" / "oracle"
CLAIM = json.loads((ORACLE / "cases" / "override_custom_add_claim.json").read_text())
ADAM = {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 0.1}
START = {"c": [0.06, -0.04], "k": [0.05, 0.13]}
FEEDS = {"data": [1, 2], "labels": [0, 1]}


def backprop(op: Any, grad: Any) -> Any:
    """The override of a well-known article."""
    c, k, d = op.inputs
    e = c + k
    return (e + d) * grad, d * grad, e * grad


def training(
    dtype: str, custom: bool, optimizer: str = "Adam", hyper: dict[str, float] | None = None
) -> tuple[Graph, dict[TensorRef, TensorRef], Updates]:
    b = GraphBuilder()
    data, labels = (b.placeholder(name, dtype, (2,)) for name in ("data", "labels"))
    c, k = (b.variable(name, dtype, (2,)) for name in ("c", "k"))
    d = b.one("AddV2", data, c, name="d")
    kind = DType(dtype)
    if custom:
        types = {"Tin": (kind,) * 3, "Tout": (kind,), "shapes": (Shape((2,)),)}
        e = b.one("PyFunc", c, k, d, name="e", token="custom_add", **types)
    else:
        e = b.one("AddV2", c, k, name="e")
    a = b.one("Mul", d, e, name="a")
    b.op("SoftmaxCrossEntropyWithLogits", a, labels, name="loss")
    overrides = (Override("CustomAdd", "e", OverrideKind.OP),)
    wrt = (TensorRef("c"), TensorRef("k"))
    request = GradientRequest((TensorRef("loss"),), wrt, overrides=overrides if custom else ())
    derived = differentiate(b.build(), request, {"CustomAdd": backprop})
    builder = GraphBuilder(derived.graph)
    pairs = [(ref.op, builder.get(derived.gradients[ref])) for ref in wrt]
    updates = apply_updates(builder, optimizer, ADAM if hyper is None else hyper, pairs)
    return builder.build(), dict(derived.gradients), updates


def session_of(graph: Graph, updates: Updates, dtype: str) -> Session:
    start = {name: np.array(value, dtype) for name, value in START.items()}
    functions = {"custom_add": lambda c, k, d: c + k}
    return Session(graph, functions=functions, initial={**updates.initial, **start})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "custom"), [("native", False), ("tutorial", True)])
def test_three_adam_steps_of_the_tutorial(name: str, custom: bool, dtype: str) -> None:
    recorded = CLAIM["results"][f"{name}/{dtype}"]
    graph, gradients, updates = training(dtype, custom)
    session = session_of(graph, updates, dtype)
    own = Rounding(terms=2, steps=3, dtype=dtype)
    (loss,) = session.run(["loss"], FEEDS)
    assert_rounded_alike(loss, np.float32(recorded["loss"]["data"]))  # reduced in float32
    for variable in ("c", "k"):
        (gradient,) = session.run([gradients[TensorRef(variable)]], FEEDS)
        assert_rounded_alike(gradient, recorded[f"dL_d{variable}"]["data"], own)
    for number, after in enumerate(recorded["adam_after_step_1_2_3"], 1):
        session.run([], FEEDS, updates.targets)
        for variable in ("c", "k"):
            value = session.run([variable])[0]
            assert value.dtype == dtype
            assert_rounded_alike(value, after[variable]["data"], own.of(steps=3 + number))


def nodes_of_tensorflow() -> dict[str, tuple[str, list[str]]]:
    """name -> (type, inputs) of the graph that TensorFlow made of the same network."""
    text = (ORACLE / "graphs" / "simple_network_adam.pbtxt").read_text()
    nodes = {}
    for node in re.split(r"^node \{", text, flags=re.MULTILINE)[1:]:
        name = re.search(r'^  name: "(.*)"', node, re.MULTILINE)
        type = re.search(r'^  op: "(.*)"', node, re.MULTILINE)
        inputs = re.findall(r'^  input: "(.*)"', node, re.MULTILINE)
        assert name
        assert type
        nodes[name[1]] = type[1], inputs
    return nodes


def test_names_inputs_and_controls_are_those_of_tensorflow() -> None:
    graph, _, _ = training("float32", False)
    theirs = nodes_of_tensorflow()
    ours = [op for op in graph if op.phase is Phase.UPDATE]
    assert len(ours) > 10
    for op in ours:
        type, inputs = theirs[op.name]
        assert op.type == type
        data = [ref.short for ref in op.inputs if ref is not None]
        written = [*data, *(f"^{name}" for name in op.control_inputs)]
        if op.type == "ApplyAdam":  # the gradient's name depends on how gradients are made
            written, inputs = written[:-1], inputs[:-1]
        # TensorFlow reads beta powers through one Identity made with the variable.
        assert written == inputs


def test_each_variable_is_one_step_and_the_powers_come_last() -> None:
    graph, _, _ = training("float32", False)
    origins = [op.origin for op in graph if op.phase is Phase.UPDATE]
    assert list(dict.fromkeys(origins)) == ["c", "k", "beta1_power"]
    assert origins == sorted(origins, key=["c", "k", "beta1_power"].index)


def test_slots_are_zeros_in_the_variables_element_type() -> None:
    _, _, updates = training("float64", False)
    assert updates.slots == {"c": ("c/Adam", "c/Adam_1"), "k": ("k/Adam", "k/Adam_1")}
    for slots in updates.slots.values():
        for slot in slots:
            assert updates.initial[slot].dtype == np.float64
            assert not updates.initial[slot].any()
    assert updates.initial["beta1_power"].dtype == np.float32


def test_gradient_descent_steps_down_the_gradient() -> None:
    graph, gradients, updates = training(
        "float32", False, "GradientDescent", {"learning_rate": 0.5}
    )
    session = session_of(graph, updates, "float32")
    (gradient,) = session.run([gradients[TensorRef("c")]], FEEDS)
    session.run([], FEEDS, updates.targets)
    expected = np.array(START["c"], np.float32) - np.float32(0.5) * gradient
    np.testing.assert_array_equal(session.store["c"], expected)
    assert updates.slots == {}


def test_two_optimizers_stand_side_by_side() -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=(2,))
    grad = b.one("Mul", v, 2.0, name="grad")
    first = apply_updates(b, "Adam", {}, [("v", grad)])
    second = apply_updates(b, "Adam", {}, [("v", grad)])
    assert first.targets == ("train",)
    assert second.targets == ("train_1",)
    assert set(first.initial).isdisjoint(second.initial)
    initial = {**first.initial, **second.initial, "v": np.ones(2)}
    Session(b.build(), initial=initial).run([], targets=[*first.targets, *second.targets])


@pytest.mark.parametrize(
    ("type", "hyper", "words"),
    [
        ("Adma", {}, "no optimizer 'Adma'"),
        ("Adam", {"momentum": 0.9}, "no hyper-parameter 'momentum'"),
        ("GradientDescent", {}, "needs a learning_rate"),
    ],
)
def test_mistakes_are_named(type: str, hyper: dict[str, float], words: str) -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=(2,))
    with pytest.raises(GradstepError, match=words):
        apply_updates(b, type, hyper, [("v", v)])


def test_a_variable_of_unknown_shape_cannot_have_slots() -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=(None, 2))
    with pytest.raises(GradstepError, match="must be known") as caught:
        apply_updates(b, "Adam", {}, [("v", v)])
    assert caught.value.node == "v"
