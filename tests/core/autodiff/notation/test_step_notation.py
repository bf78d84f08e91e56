"""Notation: what steps say they do is rendered from the operations that run."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.autodiff.notation.formula_notation import render
from gradstep.core.autodiff.notation.step_notation import Notation
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import OpDef, all_ops
from tests.support.each_case import each_of, on_each_op


@each_of(
    ("formula", "text"),
    [
        ("x * y", "a ⊙ (b + c)"),
        ("x - (y - x)", "a − ((b + c) − a)"),
        ("-x", "−a"),
        ("tanh(x)", "tanh(a)"),
        ("x / (x * x)", "a / (a ⊙ a)"),
        ("x > y", "a > b + c"),
        ("x is not None", "a ≠ None"),
    ],
)
def test_formulas_are_written_with_mathematical_signs(formula: str, text: str) -> None:
    assert render(formula, {"x": "a", "y": "b + c"}) == text


@pytest.mark.parametrize(
    ("dtype", "text"),
    [("float32", "y = (a − b) ⊙ (a − b)"), ("complex64", "y = (a − b) ⊙ conj(a − b)")],
)
def test_the_conjugate_of_a_real_number_is_that_number(dtype: str, text: str) -> None:
    build = GraphBuilder()
    a, b = (build.placeholder(n, dtype, shape=[2]) for n in ("a", "b"))
    build.one("SquaredDifference", a, b, name="y")
    graph = build.build()
    assert Notation(graph, (), {}, {}).step(graph["y"]) == text


def test_attributes_decide_what_a_formula_leaves_open() -> None:
    build = GraphBuilder()
    x, w = build.placeholder("x", shape=[2, 3]), build.placeholder("w", shape=[2, 4])
    y = build.one("MatMul", x, w, transpose_a=True, name="y")
    build.one("Sum", y, np.array([0, 1], np.int32), name="loss")
    derived = differentiate(build.build(), GradientRequest.to("loss", "x", "w"))
    notation = Notation(derived.graph, (TensorRef("loss"),), derived.gradients, derived.edges)
    assert notation.step(derived.graph["y"]) == "y = xᵀ · w"
    made = {notation.step(op) for op in derived.graph if op.type == "MatMul"}
    assert made == {"y = xᵀ · w", "∂L/∂x = w · ∂L/∂yᵀ", "∂L/∂w = x · ∂L/∂y"}


def tutorial_like() -> Notation:
    build = GraphBuilder()
    c, k, data = (build.placeholder(n, shape=[2]) for n in ("c", "k", "data"))
    d = build.one("AddV2", data, c, name="d")
    e = build.one("AddV2", c, k, name="e")
    a = build.one("Mul", d, e, name="a")
    build.one("Sum", a, np.array([0], np.int32), name="loss")
    derived = differentiate(build.build(), GradientRequest.to("loss", "c", "k"))
    return Notation(derived.graph, (TensorRef("loss"),), derived.gradients, derived.edges)


def test_forward_steps_are_assignments() -> None:
    notation = tutorial_like()
    assert notation.step(notation.graph["d"]) == "d = data + c"


def test_backward_steps_name_the_gradients_they_make() -> None:
    notation = tutorial_like()
    made = {op.name: notation.step(op) for op in notation.graph if op.origin == "a"}
    assert "∂L/∂d = ∂L/∂a ⊙ e" in made.values()
    assert "∂L/∂e = d ⊙ ∂L/∂a" in made.values()


def test_a_gradient_passed_on_is_a_step_of_its_own() -> None:
    notation = tutorial_like()
    texts = {notation.step(op) for op in notation.graph if op.origin == "e"}
    assert texts == {"∂L/∂c += ∂L/∂e", "∂L/∂k = ∂L/∂e"}


def test_sums_of_paths_are_written_out() -> None:
    notation = tutorial_like()
    total = next(op for op in notation.graph if op.type == "AddN")
    assert notation.step(total) == "∂L/∂c = ∂L/∂d + ∂L/∂e"


def test_sources_constants_and_updates_have_words_too() -> None:
    build = GraphBuilder()
    v = build.variable("v", shape=[2])
    third = build.constant([1 / 3, 2.0], name="third")
    build.one("AssignAdd", v, third, name="up")
    build.op("NoOp", name="train", control_inputs=("up",))
    notation = Notation(build.build(), (), {}, {})
    assert {op.name: notation.step(op) for op in notation.graph} == {
        "v": "VariableV2 v",
        "third": "third = [0.333333, 2]",
        "up": "v ← AssignAdd(v, [0.333333, 2])",
        "train": "NoOp train, after up",
    }


def test_a_comparison_inside_a_product_is_bracketed() -> None:
    assert render("g * (x > 0)", {"g": "∂L/∂y", "x": "x"}) == "∂L/∂y ⊙ (x > 0)"


def test_operands_reach_what_has_no_sign_of_its_own() -> None:
    assert render("x[1:, n]", {"x": "a + b", "n": "k"}) == "(a + b)[1:, k]"
    assert render("x & (y == 0)", {"x": "p", "y": "q"}) == "p & (q = 0)"


@on_each_op(all_ops())
def test_every_formula_of_the_table_can_be_written(definition: OpDef) -> None:
    if definition.formula:
        names = {s.name: f"⟨{s.name}⟩" for s in definition.inputs}
        assert render(definition.formula, names)


def test_an_operand_is_bracketed_by_what_it_is_not_by_its_last_letter() -> None:
    assert render("-x", {"x": "a - f(b)"}) == "−(a - f(b))"
    assert render("x * y", {"x": "f(a, b)", "y": "[1, 2]"}) == "f(a, b) ⊙ [1, 2]"


def test_a_variadic_input_is_written_as_a_list() -> None:
    build = GraphBuilder()
    a, b = build.placeholder("a", shape=[2]), build.placeholder("b", shape=[2])
    pack = build.one("Pack", a, b, name="both").op.operation
    assert Notation(build.build(), (), {}, {}).step(pack) == "both = stack([a, b], 0)"


def test_a_gradient_that_is_a_later_output_is_told_by_its_number() -> None:
    build = GraphBuilder()
    a, b = build.placeholder("a", shape=[2]), build.placeholder("b", shape=[2])
    build.one("Pack", a, b, name="y")
    request = GradientRequest.to("y", "a", "b")
    derived = differentiate(build.build(), request)
    notation = Notation(derived.graph, request.of, derived.gradients, derived.edges)
    first, second = (notation.gradient_of(x.ref, derived.gradients[x.ref]) for x in (a, b))
    assert first == "∂L/∂a = take(∂L/∂y, 0, 0)"
    assert second == "∂L/∂b = Unpack(∂L/∂y)[1]"


def test_a_sentence_says_which_tensors_it_is_about() -> None:
    notation = tutorial_like()
    flows = {notation.step(op): op for op in notation.graph if op.origin == "a"}
    said = notation.sentence(flows["∂L/∂e = d ⊙ ∂L/∂a"]).operands
    gradients = {str(ref) for ref in said.values()}
    assert said["d"] == TensorRef("d")
    assert said["∂L/∂a"].op.startswith("gradients/")
    assert len(gradients) == len(said)


def test_another_output_goes_by_its_number() -> None:
    build = GraphBuilder()
    logits, labels = (build.placeholder(n, shape=[3, 2]) for n in ("logits", "labels"))
    build.op("SoftmaxCrossEntropyWithLogits", logits, labels, name="loss")
    derived = differentiate(build.build(), GradientRequest.to("loss", "logits"))
    notation = Notation(derived.graph, (TensorRef("loss"),), derived.gradients, derived.edges)
    made = [notation.sentence(op) for op in derived.graph if op.origin == "loss"]
    found = next(said for text, said in made if "loss:1" in text)
    assert found["loss:1"] == TensorRef("loss", 1)


def test_tensors_of_one_name_are_told_apart_by_their_scopes() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[2])
    first = build.one("Neg", x, name="left/y")
    second = build.one("Exp", x, name="right/y")
    both = build.one("Mul", first, second, name="product")
    build.one("Neg", both, name="outer/product")
    build.one("Sum", both, np.array([0], np.int32), name="loss")
    derived = differentiate(build.build(), GradientRequest.to("loss", "x"))
    notation = Notation(derived.graph, (TensorRef("loss"),), derived.gradients, derived.edges)
    assert notation.step(derived.graph["product"]) == "product = left/y ⊙ right/y"
    assert notation.step(derived.graph["outer/product"]) == "outer/product = −product"
    made = {notation.step(op) for op in derived.graph if op.origin == "product"}
    assert made == {"∂L/∂left/y = ∂L/∂product ⊙ right/y", "∂L/∂right/y = left/y ⊙ ∂L/∂product"}
    total = next(op for op in derived.graph if op.type == "AddN")
    text, operands = notation.sentence(total)
    assert text == "∂L/∂x = −∂L/∂left/y + ∂L/∂right/y ⊙ right/y"
    assert operands["∂L/∂left/y"] == derived.gradients[TensorRef("left/y")]
    assert operands["right/y"] == TensorRef("right/y")


def test_a_large_constant_is_said_by_its_type() -> None:
    build = GraphBuilder()
    build.constant(np.zeros((4, 3), np.float32), name="masks")
    graph = build.build()
    assert Notation(graph, (), {}, {}).step(graph["masks"]) == "masks = float32[4, 3]"


def test_a_loss_that_is_a_side_of_a_branch_is_named_among_several() -> None:
    build = GraphBuilder()
    x, taken = build.placeholder("x", shape=[]), build.placeholder("p", "bool", [])
    side = build.op("Switch", x, taken, name="side")[1]
    build.one("Neg", x, name="other")
    derived = [
        differentiate(build.build(), GradientRequest((ref,), (x.ref,)))
        for ref in (side.ref, TensorRef("other"))
    ]
    first, *others = derived
    notation = Notation(first.graph, first.of, first.gradients, first.edges, others=others)
    assert notation.numerator == "∂x|p"
