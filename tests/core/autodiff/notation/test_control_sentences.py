"""Notation of control flow: loops, conds, tensor arrays and stacks read as mathematics."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.notation.step_notation import Notation
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from tests.support import looping
from tests.support.random_loops import SEEDS, RandomLoops

_GRAPHS = Path(__file__).parents[3] / "data" / "tensorflow" / "graphs.zip"
# What no sentence may have: an operation of control flow by its type, as a function.
_BY_TYPE = re.compile(
    r"\b(_Arg|While|Enter|Exit|NextIteration|LoopCond|Switch|Merge|Iteration\w+|TensorArray\w+V3"
    r"|Stack\w*V2)\("
)


def written(graph: Graph, *names: str, of: str = "", wrt: tuple[str, ...] = ()) -> Notation:
    request = GradientRequest.to(of, *wrt) if of else GradientRequest()
    derived = differentiate(graph, request)
    flat = flatten_loops(derived.graph)
    return Notation(flat, request.of, derived.gradients, derived.edges)


def said(notation: Notation, *types: str) -> list[str]:
    return [notation.step(op) for op in notation.graph if op.type in types]


def power() -> Notation:
    builder = GraphBuilder()
    with builder.as_default():
        looping.power(builder)
    return written(builder.build(), of="y", wrt=("x",))


def test_a_loop_is_a_recurrence() -> None:
    notation = power()
    forward, backward = said(notation, "While")
    assert forward == "while v₀⁽ᵗ⁾ < n: v₀⁽ᵗ⁺¹⁾ = v₀⁽ᵗ⁾ + 1, v₁⁽ᵗ⁺¹⁾ = v₁⁽ᵗ⁾ ⊙ x"
    assert backward == "for t = T − 1 … 0: ∂L/∂v₁⁽ᵗ⁾, Σ ∂L/∂x⁽ᵗ⁾"
    assert said(notation, "Enter") == ["v₀⁽⁰⁾ = 0", "v₁⁽⁰⁾ = 1"]
    assert said(notation, "LoopCond")[0] == "goes on while v₀⁽ᵗ⁾ < n"
    assert said(notation, "Switch")[1] == "v₁⁽ᵗ⁾ goes round while v₀⁽ᵗ⁾ < n"
    assert said(notation, "NextIteration") == ["v₀⁽ᵗ⁺¹⁾ = AddV2", "v₁⁽ᵗ⁺¹⁾ = times"]
    assert said(notation, "Exit")[1] == "Exit_1 = v₁⁽ᵀ⁾, as soon as v₀⁽ᵗ⁾ < n is false"
    assert notation.step(notation.graph["y"]) == "y = v₁⁽ᵀ⁾"


def test_its_gradient_goes_back_over_the_iterations() -> None:
    notation = power()
    made = {notation.step(op) for op in notation.graph if op.origin}
    assert {
        "∂L/∂times = ∂L/∂v₁⁽ᵗ⁺¹⁾",
        "∂L/∂v₁⁽ᵗ⁾ = ∂L/∂times ⊙ x",
        "∂L/∂x⁽ᵗ⁾ = v₁⁽ᵗ⁾ ⊙ ∂L/∂times",
        "∂L/∂v₁⁽ᵗ⁾ goes back as it is",
        "Σ ∂L/∂x⁽ᵗ⁾ += ∂L/∂x⁽ᵗ⁾",
        "v₁⁽ᵗ⁾, as it was on the way there",
        "T = how many iterations While made",
        "goes on while k ≥ 1",
    } <= made
    arriving = "∂L/∂v₁⁽ᵗ⁺¹⁾ = ∂L/∂v₁⁽ᵀ⁾ at first, then ∂L/∂v₁⁽ᵗ⁾"
    assert arriving in said(notation, "_Arg")


def test_what_goes_round_is_called_as_what_it_begins_with() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        h, w = builder.placeholder("h", shape=()), builder.placeholder("w", shape=())
        first = builder.constant(np.array(0, np.int32), name="i")
        tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(h * w)), [first, h])
    (loop,) = said(written(builder.build()), "While")
    assert loop == "while i⁽ᵗ⁾ < 3: i⁽ᵗ⁺¹⁾ = i⁽ᵗ⁾ + 1, h⁽ᵗ⁺¹⁾ = tanh(h⁽ᵗ⁾ ⊙ w)"


def test_a_name_that_something_else_in_the_loop_has_is_not_taken() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=())
        tf.while_loop(lambda h, k: h < 3.0, lambda h, k: (h + x, k * h), [x, x])
    (loop,) = said(written(builder.build()), "While")
    assert loop.startswith("while v₀⁽ᵗ⁾ < 3: v₀⁽ᵗ⁺¹⁾ = v₀⁽ᵗ⁾ + x")


def test_iterations_of_an_inner_loop_have_another_letter() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        looping.nested(builder)
    notation = written(builder.build())
    starts, ends = said(notation, "Enter"), said(notation, "Exit")
    assert any("⁽ˢ⁼⁰⁾ = " in text for text in starts), starts
    assert any("⁽ˢ⁼ᵀ⁾, as soon as v₀⁽ˢ⁾ < v₀⁽ᵗ⁾ is false" in text for text in ends), ends


def test_arrays_are_indexed() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=(3, 2))
        tf.reduce_sum(tf.map_fn(lambda row: row * row, x), name="loss")
    notation = written(builder.build(), of="loss", wrt=("x",))
    kinds = ("TensorArrayReadV3", "TensorArrayWriteV3", "TensorArrayScatterV3")
    texts = said(notation, *kinds)
    assert "TensorArrayReadV3 = TensorArray[v₁⁽ᵗ⁾]" in texts
    assert any(re.fullmatch(r"TensorArray_1\[v₁⁽ᵗ⁾\] ← \w+", text) for text in texts)
    assert "∂L/∂TensorArray[v₁⁽ᵗ⁾] += ∂L/∂TensorArrayReadV3" in texts
    assert any(re.fullmatch(r"∂L/∂\w+ = ∂L/∂TensorArray_1\[v₁⁽ᵗ⁾\]", t) for t in texts), texts


def branched() -> tuple[Graph, GradientRequest]:
    builder = GraphBuilder()
    with builder.as_default():
        x, p = builder.placeholder("x", shape=()), builder.placeholder("p", "bool", ())
        low = builder.placeholder("low", shape=())
        first = tf.cond(p, lambda: x * 3.0, lambda: x + low)
        inner = tf.cond(low < 1.0, lambda: first * 2.0, lambda: tf.tanh(first))
        tf.identity(inner, name="y")
    return builder.build(), GradientRequest.to("y", "x", "low")


@pytest.mark.parametrize("p", [True, False])
@pytest.mark.parametrize("low", [0.5, 2.0])
def test_a_merge_says_which_branch_gave_its_value(p: bool, low: float) -> None:
    graph, request = branched()
    derived = differentiate(graph, request)
    notation = Notation(derived.graph, request.of, derived.gradients, derived.edges)
    feeds = {"x": np.float32(0.25), "p": np.array(p), "low": np.float32(low)}
    session, seen = Session(derived.graph), 0
    holds = {"p": p, "low < 1": low < 1}
    for op in derived.graph:
        if op.type != "Merge":
            continue
        sentence = notation.sentence(op)
        found = re.fullmatch(r".* = (.*) if (.*) else (.*)", sentence.text)
        assert found is not None, sentence.text
        taken = found[1] if holds[found[2]] else found[3]
        held = sentence.operands.get(taken)
        names = [op.output()] if held is None else [op.output(), held]
        values = session.run(names, feeds)
        assert values[-1] == (values[0] if held is not None else 0), sentence.text
        seen += 1
    assert seen >= 4


def test_the_two_ways_back_from_a_merge_are_told_apart() -> None:
    graph, request = branched()
    derived = differentiate(graph, request)
    notation = Notation(derived.graph, request.of, derived.gradients, derived.edges)
    texts = [notation.step(op) for op in derived.graph if op.type == "Switch" and op.origin]
    assert "∂L/∂Mul = ∂L/∂Merge if p; ∂L/∂AddV2 = ∂L/∂Merge if not p" in texts
    made = {notation.step(op) for op in derived.graph if op.origin}
    assert "∂L/∂x|p = ∂L/∂Mul ⊙ 3" in made


@pytest.mark.parametrize("seed", SEEDS)
def test_no_step_of_any_loop_is_said_by_its_op_type(seed: int) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        made = RandomLoops(tf, seed, builder.placeholder)
        y = made.ys[0].ref
    check_all(written(builder.build(), of=str(y), wrt=("x0", "x1", "x2")))


def imported(name: str) -> Graph:
    with zipfile.ZipFile(_GRAPHS) as archive:
        return from_pb(archive.read(f"{name}.pb")).graph


@pytest.mark.parametrize("name", ["while_nested_training", "dynamic_rnn_BasicRNNCell_training"])
def test_a_training_graph_of_tensorflow_reads_as_mathematics(name: str) -> None:
    check_all(written(imported(name)))


def check_all(notation: Notation) -> None:
    """Every step: no op type in place of a sign, and each operand is a tensor there is."""
    for op in notation.graph:
        sentence = notation.sentence(op)
        assert not _BY_TYPE.search(sentence.text), sentence.text
        for words, ref in sentence.operands.items():
            assert ref.op in notation.graph
            assert words in sentence.text


def test_what_comes_off_a_stack_is_what_was_pushed() -> None:
    notation = written(imported("while_with_cond"))
    graph = notation.graph
    assert notation.step(graph["gradients/while/cond/Sin_grad/Cos"]) == "Cos = cos(v₁⁽ᵗ⁾)"
    popped = graph["gradients/while/cond/mul_grad/Mul_1/StackPopV2"]
    assert notation.step(popped) == "v₁⁽ᵗ⁾, from f_acc"
    assert notation.step(graph["while/cond/Merge"]) == "Merge = mul if Equal else add"


@pytest.mark.parametrize("kind", ["Switch", "Merge", "NextIteration", "TensorArrayWriteV3", "Exit"])
def test_what_is_not_wired_yet_is_said_all_the_same(kind: str) -> None:
    op = Operation("open", kind, inputs=(None, None))
    graph = Graph.of([op])
    assert Notation(graph, (), {}, {}).step(op)
