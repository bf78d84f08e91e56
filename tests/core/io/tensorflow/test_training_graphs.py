"""What an imported training graph is made of, and how its gradients live in a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.checks.gradients.gradient_checks import gradient_tables
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.debug.history.frozen_program import Program, named
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.document.requests import every_request, main_request, requests, whole_request
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.graph.model import Edge, Graph, Operation, Phase, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_export import to_pb
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.program.derive import derive
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import GradientTable
from gradstep.core.protocol.result_rows import NodeCheck
from tests.support import gradient_facts as facts

TRAINED = [name for name in facts.names() if name.endswith(("_ref", "_resource"))]


@cache
def derived(name: str) -> Program:
    return derive(facts.document(name))


def stretches(program: Program) -> list[str]:
    """The phases of a run's steps, in order."""
    plan = compile_plan(program.graph, program.fetches, program.targets)
    return [phase for phase, _ in groupby(step.op.phase.value for step in plan.steps)]


ONCE = ["embedding", "by_hand", "control_flow", "overridden", "residual_network"]


@pytest.mark.parametrize("name", [*TRAINED, *ONCE])
def test_a_run_goes_forward_back_and_updates(name: str) -> None:
    """Each once: what slots, counters and stacks of loops need stands where it belongs, and the
    counter that was made between two calls of tf.gradients, too."""
    assert stretches(derived(name)) == ["forward", "backward", "update"]


def test_what_was_drawn_after_the_optimizer_is_computed_before_it() -> None:
    """The accuracy and summaries of a program come last in it, and belong to the way forward."""
    graph = facts.document("residual_network").graph
    late = [op.name for op in graph if op.name in ("accuracy", "loss_1", "Mean_1", "Equal")]
    order = [*graph.operations]
    first = min(order.index(op.name) for op in graph if op.phase is Phase.BACKWARD)
    assert late
    assert all(order.index(name) < first for name in late)


@pytest.mark.parametrize("name", facts.names())
def test_every_gradient_operation_belongs_to_a_forward_one(name: str) -> None:
    """Sums, zeros and ones, too, so that stepping goes over what one operation has caused."""
    document = facts.document(name)
    graph, scopes = document.graph, [one.scope for one in document.imported]
    inside = [op for op in graph if op.phase is Phase.BACKWARD and _within(op.name, scopes)]
    assert inside
    assert [op.name for op in inside if not op.origin] == []
    for op in inside:
        if op.type == "AddN":
            of = TensorRef(op.origin)
            assert op.output() in [one.gradients.get(of) for one in derived(name).derived]


def _within(name: str, scopes: Sequence[str]) -> bool:
    return any(name.startswith(f"{scope}/") for scope in scopes)


@pytest.mark.slow
def test_updates_and_slots() -> None:
    graph = facts.document("adam_resource").graph
    assert graph["Adam/update_w1/ResourceApplyAdam"].origin == "w1"
    assert (graph["w1/Adam"].phase, graph["w1/Adam"].origin) == (Phase.UPDATE, "w1")
    assert graph["w1/Adam/Read/ReadVariableOp"].origin == "w1"
    assert graph["beta1_power"].phase is Phase.UPDATE
    assert graph["w1/Adam/Assign"].phase is Phase.FORWARD  # it gives a first value
    assert graph["ExponentialDecay"].phase is Phase.FORWARD
    slots = derived("adam_resource").slots
    assert slots["w1"] == ("w1/Adam", "w1/Adam_1")
    clipped = facts.document("clipped").graph
    assert clipped["clip_by_global_norm/mul_1"].phase is Phase.UPDATE
    assert clipped["norm"].phase is Phase.BACKWARD  # a summary of gradients
    assert facts.document("by_hand").graph["AssignSub"].origin == "w1"
    penalty = facts.document("gradient_penalty").graph
    assert penalty["Sqrt"].phase is Phase.FORWARD  # the gradient of a gradient goes through it


# -- in a document ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["adam_ref", "gan", "unrolled"])
def test_they_are_saved_and_written(name: str) -> None:
    """In a file of either kind; a GraphDef is read as it was at first."""
    document = facts.document(name)
    assert gradstep_file.from_bytes(gradstep_file.to_bytes(document)).imported == document.imported
    again = from_pb(to_pb(document), name)
    assert again.imported == document.imported
    assert list(again.graph) == list(document.graph)


def test_they_outlast_edits_of_something_else() -> None:
    """Renaming what they are of, and deleting beside them; not deleting a part of them."""
    document = facts.document("adam_ref")
    renamed = document_edits.rename_operation(document, "MatMul", "product")
    renamed = document_edits.rename_operation(renamed, "loss", "error")
    (one,) = renamed.imported
    assert one.of == (TensorRef("error"),)
    before, after = derived("adam_ref"), derive(renamed)
    assert len(after.gradients) == len(before.gradients)
    assert after.gradients[TensorRef("product")] == before.gradients[TensorRef("MatMul")]
    assert document_edits.remove_operations(document, ["global_step"]).imported == document.imported
    cut = document_edits.remove_operations(document, ["gradients/h_grad/ReluGrad"])
    assert cut.imported == ()
    assert derive(cut).gradients == {}
    assert document_edits.remove_operations(document, ["loss"]).imported == ()


@pytest.mark.parametrize("scope", ["head", "stem_bn", "gradients", "gradients_1"])
def test_they_outlast_a_renamed_scope(scope: str) -> None:
    """Of what they are of, and their own, which the document knows by its name."""
    document = facts.document("residual_network")
    renamed = document_edits.rename_scope(document, scope, "elsewhere")
    scopes = [one.scope for one in document.imported]
    assert [one.scope for one in renamed.imported] == [
        "elsewhere" if name == scope else name for name in scopes
    ]
    for before, after in zip(
        derived("residual_network").derived, derive(renamed).derived, strict=True
    ):
        assert len(after.gradients) == len(before.gradients) > 60
        assert len(after.edges) == len(before.edges)


def test_requests() -> None:
    """Nothing is derived for them, and everything that shows gradients knows them."""
    document = facts.document("gan")
    assert requests(document) == ()
    assert [request.of for request in every_request(document)] == [
        (TensorRef("d_loss"),),
        (TensorRef("g_loss"),),
    ]
    assert main_request(document).wrt == document.imported[0].wrt
    assert len(whole_request(document).wrt) == 8
    own = document_edits.set_request(document, ["g_loss"], ["G/dense/kernel"])
    assert [request.of for request in every_request(own)] == [
        (TensorRef("g_loss"),),
        (TensorRef("d_loss"),),
    ]


def test_what_bends_gradients_has_them_derived() -> None:
    """In the graph they are as they are; so a stop, or an override, asks for them anew."""
    document = facts.document("adam_ref")
    stopped = document_edits.toggle_stop(document, Edge("h", 0))
    override = Override("Identity", "h", OverrideKind.OP)
    for bent in (stopped, document_edits.set_override(document, override)):
        assert bent.request.of == document.imported[0].of
        assert bent.request.wrt == document.imported[0].wrt
        program = derive(bent)
        assert [name for name, _ in named(program.derived)] == ["loss", "loss in gradients"]
    assert TensorRef("w1") in derive(stopped).derived[1].gradients
    program = derive(stopped)
    held, own = (one.gradients[TensorRef("w1")] for one in reversed(program.derived))
    assert program.gradients[TensorRef("w1")] == own != held


# -- in a program ----------------------------------------------------------------------------------


def test_a_program_has_them_as_its_gradients() -> None:
    document = facts.fed("residual_network")
    program = derive(document)
    session = DebugSession(program)
    session.continue_()
    frame = session.frame()
    assert program.request.wrt == document.imported[0].wrt
    for ref in program.request.wrt:
        value = frame.gradient(ref)
        assert (value is None) == (ref.op == "head/temperature")
        if value is not None:
            assert np.isfinite(value).all()
    assert [name for name, _ in named(program.derived)] == ["loss", "loss in gradients"]


def test_an_edit_of_something_else_finds_them_again() -> None:
    """The very same, without looking: the graph is the one that it was."""
    document = facts.fed("adam_ref")
    before = derive(document)
    fed = document.with_(feeds={})
    after = derive(fed, previous=before)
    assert after.derived[0] is before.derived[0]
    renamed = derive(document_edits.rename_operation(document, "h", "hidden"), previous=before)
    assert renamed.gradients[TensorRef("hidden")] == before.gradients[TensorRef("h")]


def test_steps_are_those_of_forward_operations() -> None:
    """One step back for each forward operation that has one, the last first; then the updates."""
    session = DebugSession(derive(facts.fed("sgd_ref")))
    back: list[str] = []
    while session.step().reason != "end":
        if session.stop.phase == "backward":
            back.append(session.stop.node)
    assert back[:3] == ["loss", "Mean", "mul"]
    assert back[-3:] == ["add", "MatMul", "w1/read"]
    assert len(back) == len(set(back))


def test_what_cannot_be_differentiated_has_no_gradients_and_no_crash() -> None:
    document = facts.document("adam_ref")
    graph = document.graph
    broken = Graph.of(replace(op, type="Unheard") if op.name == "h" else op for op in graph)
    program = derive(document.with_(graph=broken))
    assert program.gradients == {}
    assert any("Unheard" in problem.text for problem in program.problems)


def checked(document: Document) -> GradientTable:
    """What the check of all gradients says at the first run."""
    program: Program = derive(document)
    start = DebugSession(program).frame(0, 0)
    variables = [op.output() for op in program.forward if op.type in VARIABLES]
    values = {ref: value for ref in variables if (value := start.value(ref)) is not None}
    here = Situation(program.forward, program.request, {}, {**program.feeds, **values})
    return gradient_tables(Evaluator({}), [*here.each(program.derived)])


@pytest.mark.parametrize("name", ["adam_resource", "embedding", "gan", "unrolled", "control_flow"])
def test_the_check_is_of_the_graphs_own_gradients(name: str) -> None:
    table = checked(facts.fed(name))
    assert table.rows
    assert all(row.agrees for row in table.rows), table.text
    assert all(node.agrees for node in table.nodes)
    assert {node.gradient.partition("/")[0] for node in table.nodes} <= {
        "gradients", "gradients_1", "tower_0", "tower_1",
    }  # fmt: skip


def test_a_wrong_gradient_in_the_graph_is_found_at_its_node() -> None:
    """Somebody's Relu lets everything back: the numbers tell, and where."""
    document = facts.fed("adam_ref")
    name = "gradients/h_grad/ReluGrad"
    op = document.graph[name]
    wrong = Operation(name, "Identity", op.inputs[:1], origin=op.origin, phase=op.phase)
    graph = Graph.of(wrong if each is op else each for each in document.graph)
    table = checked(document.with_(graph=graph))
    assert [node.node for node in table.nodes if not node.agrees] == ["h"]
    blamed: NodeCheck = next(node for node in table.nodes if not node.agrees)
    assert blamed.gradient == "gradients/h_grad"
    assert "differ from finite differences" in table.text
    assert not all(row.agrees for row in table.rows if row.name == "w1")
    assert all(row.agrees for row in table.rows if row.name == "w2")
