"""From documents to programs: what can run runs, and what is wrong is said at its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeItem, CodeKind, Document, Optimizer
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.changes import Changes, diff
from gradstep.core.graph.edits import add, disconnect, set_attr
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from tests.support import article
from tests.support import gradient_facts as facts


@pytest.mark.slow
def test_an_engine_answers_the_same_whatever_its_hashes() -> None:
    """What Python's sets give first differs from process to process: a restarted engine must list
    what the one before it listed."""
    one, other = (
        subprocess.run(
            [sys.executable, "-m", "tests.core.program.opened_documents"],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert len(json.loads(one)) > 40
    assert json.loads(one) == json.loads(other)


@pytest.fixture
def tutorial(example: Callable[[str], bytes]) -> Document:
    return gradstep_file.from_bytes(example("tutorial"))


def gradients(program: Program) -> dict[str, np.ndarray]:
    session = Session(program.graph, functions=program.functions, initial=program.initial)
    refs = {ref.short: program.gradients[ref] for ref in program.request.wrt}
    return dict(zip(refs, session.run(refs.values(), program.feeds), strict=True))


def codes(program: Program) -> list[str]:
    return [problem.code for problem in program.problems]


def test_the_tutorial_network_has_its_gradients_and_updates(tutorial: Document) -> None:
    program = derive(tutorial)
    assert program.problems == ()
    found = gradients(program)
    np.testing.assert_allclose(found["c"], [0.567514, -0.994362], atol=1e-6)
    np.testing.assert_allclose(found["k"], [0.514158, -0.950707], atol=1e-6)
    assert set(program.slots) == {"c", "k"}
    assert program.targets
    assert all(name in program.graph for name in program.targets)
    assert program.forward is tutorial.graph


def test_a_stopped_wire_leaves_the_other_variable(tutorial: Document) -> None:
    """Without the second wire of e = c + k, k has no gradient; its update is passed over."""
    request = replace(tutorial.request, stopped_edges=frozenset({Edge("e", 1)}))
    program = derive(tutorial.with_(request=request))
    assert program.problems == ()
    assert TensorRef("k") not in program.gradients
    assert set(program.slots) == {"c"}


def test_no_gradient_at_all_is_a_problem_in_tensorflows_words(tutorial: Document) -> None:
    stopped = frozenset({Edge("a", 0), Edge("a", 1)})
    program = derive(tutorial.with_(request=replace(tutorial.request, stopped_edges=stopped)))
    [problem] = program.problems
    assert problem.text.startswith("No gradients provided for any variable, check your graph")
    assert "['c', 'k']" in problem.text
    assert program.slots == {}
    assert DebugSession(program).continue_().reason == "end"  # the rest runs


@pytest.mark.parametrize(
    ("override", "near"),
    [
        (Override("Identity", "addv2"), "did you mean AddV2 (2 ops)?"),
        (Override("Identity", "los", OverrideKind.OP), "did you mean loss?"),
        (Override("Identity", "layer2", OverrideKind.SCOPE), "did you mean layer1 (1 op)?"),
        (Override("Identity", "Conv2D"), "correct its target, or switch it off"),
    ],
)
def test_an_override_that_matches_nothing_is_a_problem(
    tutorial: Document, override: Override, near: str
) -> None:
    graph = Graph.of([*tutorial.graph, Operation("layer1/x", "NoOp")])
    request = replace(tutorial.request, overrides=(override,))
    [problem] = derive(tutorial.with_(graph=graph, request=request)).problems
    assert problem.text.startswith("this override matches nothing")
    assert problem.fix == near
    assert problem.severity == "warning"


def test_an_override_that_is_switched_off_is_not_missed(tutorial: Document) -> None:
    request = replace(tutorial.request, overrides=(Override("Identity", "Foo", enabled=False),))
    assert derive(tutorial.with_(request=request)).problems == ()


@pytest.mark.parametrize(
    ("source", "trusted", "said"),
    [
        ("def f(op, grad):\n    return grad", True, "Num gradients 1"),
        ("def f(op, grad):\n    return unknown", True, "'mine', line 2: NameError"),
        ("def f(op, grad):\n    return (1.0, 2.0)", True, "returned a float"),
        ("def f(op, grad) return", True, "line 1"),
        ("def f(op, grad):\n    return grad, grad", False, "has not been trusted"),
    ],
)
def test_a_bad_gradient_function_leaves_the_forward_program(
    tutorial: Document, source: str, trusted: bool, said: str
) -> None:
    request = replace(tutorial.request, overrides=(Override("mine", "e", OverrideKind.OP),))
    code = {"mine": CodeItem("mine", CodeKind.GRADIENT, source)}
    program = derive(tutorial.with_(request=request, code=code), trusted=trusted)
    assert any(said in p.text for p in program.problems if p.node == "e")
    assert program.gradients == {}
    session = DebugSession(program)
    assert session.continue_().reason == "end"
    assert session.frame().value("loss:0") == pytest.approx(0.66369414)


def test_an_unknown_gradient_is_a_problem_at_its_node(tutorial: Document) -> None:
    request = replace(tutorial.request, overrides=(Override("Nowhere", "e", OverrideKind.OP),))
    [problem] = derive(tutorial.with_(request=request)).problems
    assert problem.node == "e"
    assert "'Nowhere'" in problem.text


def test_an_unknown_gradient_off_the_path_is_a_warning(tutorial: Document) -> None:
    over = replace(tutorial.request, overrides=(Override("identty", "labels", OverrideKind.OP),))
    [problem] = derive(tutorial.with_(request=over)).problems
    assert (problem.code, problem.severity) == ("unregistered-gradient", "warning")
    assert problem.fix.startswith("did you mean Identity")
    labels = tutorial.graph["labels"].with_attrs(_gradient_op_type="CustomAd")
    graph = Graph.of(labels if op.name == "labels" else op for op in tutorial.graph)
    code = {"CustomAdd": CodeItem("CustomAdd", CodeKind.GRADIENT, "def f(op, grad): return grad")}
    [problem] = derive(tutorial.with_(graph=graph, code=code), trusted=True).problems
    assert problem.node == "labels"
    assert problem.text.startswith("its _gradient_op_type asks for the gradient 'CustomAd'")
    assert problem.fix == "did you mean CustomAdd?"


def test_python_that_nobody_wrote_is_a_problem_where_it_is_called() -> None:
    document = facts.fed("article_forward")
    loss = document.with_(fetches=(TensorRef("loss"),))
    found = {(p.code, p.node): p for p in derive(loss).problems}
    assert {*found} == {("unregistered-gradient", "e"), ("missing-python", "e")}
    missing = found["missing-python", "e"]
    assert (missing.severity, missing.text) == (
        "error",
        "it calls the Python function 'pyfunc_0', which is not here",
    )
    assert missing.fix == "write 'def pyfunc_0(c, k, d)', by Edit Python… or in a file for --code"
    unused = document.with_(targets=(), fetches=(TensorRef("d"),))
    assert {p.severity for p in derive(unused).problems} == {"warning"}
    code = {"pyfunc0": CodeItem("pyfunc0", CodeKind.PYFUNC, article.FUNCTIONS)}
    near = [p.fix for p in derive(loss.with_(code=code), trusted=True).problems]
    assert "did you mean pyfunc0?" in near


def test_gradients_that_stand_in_the_graph_need_no_function() -> None:
    """Of the article's training graph only the function itself is missing: its gradient is made."""
    document = facts.fed("article")
    assert {p.code for p in derive(document).problems} == {"missing-python"}
    anew = replace(document.imported[0].request, stops=frozenset({TensorRef("d")}))
    problems = derive(document.with_(request=anew)).problems
    assert any("CustomAdd" in p.text for p in problems)


def test_a_node_half_drawn_elsewhere_disturbs_nothing(tutorial: Document) -> None:
    graph = Graph.of([*tutorial.graph, Operation("half", "Mul", (TensorRef("c"), None))])
    program = derive(tutorial.with_(graph=graph))
    assert [(p.node, p.code) for p in program.problems] == [("half", "unconnected")]
    np.testing.assert_allclose(gradients(program)["c"], [0.567514, -0.994362], atol=1e-6)
    assert "half" not in program.targets


def test_a_broken_node_on_the_way_is_named(tutorial: Document) -> None:
    cut = replace(tutorial.graph["d"], inputs=(TensorRef("data"), None))
    graph = Graph.of(cut if op.name == "d" else op for op in tutorial.graph)
    program = derive(tutorial.with_(graph=graph))
    assert "unconnected" in codes(program)
    [problem] = [p for p in program.problems if p.code == "waiting"]
    assert (problem.node, problem.severity) == ("d", "info")
    session = DebugSession(program)
    assert session.continue_().error is not None
    assert session.stop.op == "d"


def test_a_cycle_takes_only_what_depends_on_it(tutorial: Document) -> None:
    loop = [
        Operation("p", "Mul", (TensorRef("q"), TensorRef("c"))),
        Operation("q", "Identity", (TensorRef("p"),)),
        Operation("after", "Neg", (TensorRef("q"),)),
    ]
    program = derive(tutorial.with_(graph=Graph.of([*tutorial.graph, *loop])))
    assert codes(program) == ["cycle"]
    np.testing.assert_allclose(gradients(program)["k"], [0.514158, -0.950707], atol=1e-6)


def test_values_that_do_not_fit_are_problems(tutorial: Document) -> None:
    feeds = {**tutorial.feeds, "data:0": Constant(np.ones(3, np.float32)), "gone:0": Constant(1.0)}
    initial = {**tutorial.initial, "k": Constant(np.ones((2, 2), np.float32))}
    program = derive(tutorial.with_(feeds=feeds, initial=initial))
    assert codes(program) == ["feed", "feed", "initial"]
    assert program.problems[0].text.startswith("Cannot feed value of shape (3,) for Tensor data:0")
    session = DebugSession(program)
    session.continue_()
    assert session.stop.error is not None


def test_a_schedule_that_cannot_be_read_leaves_the_gradients(tutorial: Document) -> None:
    (optimizer,) = tutorial.optimizers
    program = derive(tutorial.with_(optimizers=(replace(optimizer, schedule="linear(3)"),)))
    assert codes(program) == ["optimizer"]
    assert "no schedule 'linear(3)': there are warmup" in program.problems[0].text
    assert program.gradients


def test_an_unknown_optimizer_leaves_the_gradients(tutorial: Document) -> None:
    program = derive(tutorial.with_(optimizers=(Optimizer("Adamant", {}),)))
    assert codes(program) == ["optimizer"]
    assert program.gradients


def test_names_that_are_not_there(tutorial: Document) -> None:
    request = GradientRequest.to("los", "c")
    program = derive(tutorial.with_(request=request, fetches=(TensorRef("gone"),), init="also"))
    assert codes(program) == ["missing-name", "missing-name", "gradient"]
    assert "loss" in program.problems[-1].fix
    assert program.fetches == ()


def test_without_a_request_everything_drawn_runs() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", shape=[2])
    builder.one("Neg", x, name="y")
    builder.one("Exp", x, name="z")
    program = derive(Document(builder.build(), feeds={"x": Constant([1.0, 2.0])}))
    assert program.targets == ("y", "z")


def test_with_a_request_what_cannot_run_beside_it_is_left_out(tutorial: Document) -> None:
    builder = GraphBuilder(tutorial.graph)
    c = builder.get("c")
    builder.one("Exp", c, name="beside")
    builder.one("Exp", builder.placeholder("unfed", shape=[2]), name="starved")
    builder.one("AssignAdd", builder.variable("count", shape=[]), 1.0, name="counting")
    program = derive(tutorial.with_(graph=builder.build()))
    assert "beside" in program.targets
    assert not {"starved", "counting"} & set(program.targets)
    assert DebugSession(program).continue_().error is None


def test_python_functions_go_to_the_program(
    pyfunc_document: Callable[[str], Document],
) -> None:
    document = pyfunc_document("def f(w):\n    return w * 3")
    program = derive(document, trusted=True)
    session = DebugSession(program)
    assert session.continue_().reason == "end"
    np.testing.assert_array_equal(session.frame().value("after:0"), [9, 36])
    restricted = DebugSession(untrusted := derive(document))
    stop = restricted.continue_()
    assert stop.error is not None
    assert (stop.error.kind, stop.error.node) == ("UntrustedCodeError", "y")
    assert codes(untrusted) == ["untrusted-code"]


def test_an_edit_leaves_what_it_does_not_touch(
    tutorial: Document, example: Callable[[str], bytes]
) -> None:
    """The program is the one that is derived without the one before; its operations are that
    one's, where they are alike, the updates' too."""
    before = derive(tutorial)
    read_again = gradstep_file.from_bytes(example("tutorial"))
    assert read_again.graph.operations["c"] is not tutorial.graph.operations["c"]
    stops = replace(tutorial.request, stops=frozenset({tutorial.request.wrt[0]}))
    for document in (read_again, read_again.with_(request=stops)):
        again, anew = derive(document, previous=before), derive(document)
        assert diff(again.graph, anew.graph) == Changes()
        assert list(again.graph) == list(anew.graph)
        assert again.gradients == anew.gradients
        assert again.targets == anew.targets
        changed = diff(before.graph, anew.graph)
        same = before.graph.operations.keys() - changed.removed - changed.changed
        assert same
        assert all(again.graph[name] is before.graph[name] for name in same)


def test_a_program_after_one_that_has_no_gradients(tutorial: Document) -> None:
    """What the one before that left is not lost."""
    before = derive(tutorial)
    cut = tutorial.with_(graph=disconnect(tutorial.graph, Edge(tutorial.request.of[0].op, 0)))
    broken = derive(cut, previous=before)
    assert "waiting" in codes(broken)
    again = derive(tutorial, previous=broken)
    assert all(
        again.graph[op.name] is op for op in before.graph if op.name.startswith("gradients/")
    )


def test_gradients_that_cannot_be_derived_any_more_are_no_part_of_what_is_said(
    tutorial: Document,
) -> None:
    """An engine that has seen an edit says of a program what another one says that has not."""
    before = derive(tutorial)
    cut = tutorial.with_(graph=disconnect(tutorial.graph, Edge(tutorial.request.of[0].op, 0)))
    after, anew = derive(cut, previous=before), derive(cut)
    assert before.losses
    assert after.losses == anew.losses == {}
    assert after.derived == anew.derived


def test_a_number_that_equals_another_is_an_edit_too(tutorial: Document) -> None:
    graph, _ = add(tutorial.graph, "Gather", "rows", attrs={"validate_indices": True})
    before = derive(tutorial.with_(graph=graph))
    edited = set_attr(graph, "rows", "validate_indices", 1)
    after = derive(tutorial.with_(graph=edited), previous=before)
    assert after.forward["rows"].attrs["validate_indices"] is not True


def test_a_target_that_does_not_exist_is_said(tutorial: Document) -> None:
    document = tutorial.with_(targets=("train",), fetches=(TensorRef("accuracy"),))
    texts = [p.text for p in derive(document).problems if p.code == "missing-name"]
    assert texts == [
        "the document's target 'train' does not exist",
        "the document's fetch 'accuracy' does not exist",
    ]
