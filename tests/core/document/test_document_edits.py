"""Edits of documents: requests, values, breakpoints and places follow the graph."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gradstep.core.autodiff.reverse.gradient_request import NATIVE_OP_TYPE, Override, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits as graph_edits
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import tensor_carried
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer
from gradstep.core.program.derive import derive

TUTORIAL = Path(__file__).parents[3] / "assets/examples/tutorial.gradstep"


@pytest.fixture
def tutorial() -> Document:
    return gradstep_file.load(TUTORIAL)


def test_renaming_a_variable_keeps_its_value_request_and_place(tutorial: Document) -> None:
    renamed = document_edits.rename_operation(tutorial, "c", "bias/c")
    assert renamed.initial["bias/c"] == tutorial.initial["c"]
    assert TensorRef("bias/c") in renamed.request.wrt
    assert renamed.view.positions["bias/c"] == tutorial.view.positions["c"]
    assert not derive(renamed).problems


def test_renaming_leaves_what_does_not_name_the_node_the_very_same(tutorial: Document) -> None:
    """Who follows from it can tell so by identity."""
    over = document_edits.set_override(tutorial, Override("Identity", "e", OverrideKind.OP))
    marked = document_edits.toggle_breakpoint(over, "loss")
    renamed = document_edits.rename_operation(marked, "d", "other")
    assert renamed.graph is not marked.graph
    assert renamed.view.positions["other"] == marked.view.positions["d"]
    for part in ("request", "breakpoints", "initial", "feeds", "optimizers", "expectations"):
        assert getattr(renamed, part) is getattr(marked, part), part
    assert document_edits.rename_operation(marked, "e", "other").request is not marked.request


def test_removing_a_node_removes_what_spoke_of_it(tutorial: Document) -> None:
    stopped = document_edits.toggle_stop(tutorial, Edge("a", 1))
    marked = document_edits.toggle_breakpoint(stopped, "e")
    over = document_edits.set_override(marked, Override("Identity", "e", OverrideKind.OP))
    gone = document_edits.remove_operations(over, ["e"])
    assert "e" not in gone.graph
    assert not gone.request.stopped_edges
    assert not gone.request.overrides
    assert not gone.breakpoints


def test_toggles_are_their_own_inverse(tutorial: Document) -> None:
    edge = Edge("a", 0)
    assert (
        document_edits.toggle_stop(document_edits.toggle_stop(tutorial, edge), edge).request
        == tutorial.request
    )
    twice = document_edits.toggle_breakpoint(document_edits.toggle_breakpoint(tutorial, "a"), "a")
    assert twice.breakpoints == tutorial.breakpoints


def test_an_open_input_cannot_be_stopped(tutorial: Document) -> None:
    opened = document_edits.disconnect(tutorial, Edge("a", 0))
    with pytest.raises(GradstepError, match="no wire"):
        document_edits.toggle_stop(opened, Edge("a", 0))


@pytest.mark.parametrize("dropped", range(3))
def test_a_stop_stays_on_its_wire_where_one_before_it_goes(dropped: int) -> None:
    """A further input of an op that takes many goes away with its wire, and those after it are
    one less."""
    builder = GraphBuilder()
    builder.one("AddN", *(builder.placeholder(name, shape=()) for name in "xyz"), name="sum")
    document = Document(graph=builder.build())
    for index in range(3):
        document = document_edits.toggle_stop(document, Edge("sum", index))
    document = document_edits.toggle_stop(document, Edge("sum", (dropped + 1) % 3))
    before = {tensor_carried(document.graph, e) for e in document.request.stopped_edges}
    gone = tensor_carried(document.graph, Edge("sum", dropped))
    left = document_edits.disconnect(document, Edge("sum", dropped))
    after = {tensor_carried(left.graph, e) for e in left.request.stopped_edges}
    assert len(after) == 1
    assert after == before - {gone}


def test_a_stop_on_a_wire_that_there_is_not_goes_with_what_is_removed(tutorial: Document) -> None:
    request = replace(tutorial.request, stopped_edges=frozenset({Edge("a", 7)}))
    gone = document_edits.remove_operations(replace(tutorial, request=request), ["e"])
    assert not gone.request.stopped_edges


def test_one_override_per_target(tutorial: Document) -> None:
    first = document_edits.set_override(tutorial, Override("Identity", "e", OverrideKind.OP))
    second = document_edits.set_override(first, Override("Mine", "e", OverrideKind.OP))
    assert [o.gradient for o in second.request.overrides] == ["Mine"]
    off = document_edits.toggle_override(second, 0)
    assert not off.request.overrides[0].enabled
    assert not document_edits.clear_override(off, OverrideKind.OP, "e").request.overrides


def test_a_value_follows_its_shape_where_it_fits(tutorial: Document) -> None:
    double = document_edits.set_attr(tutorial, "c", "dtype", DType.FLOAT64)
    np.testing.assert_allclose(double.initial["c"].array, [0.06, -0.04], rtol=1e-6)
    assert double.initial["c"].array.dtype == np.float64


@pytest.mark.parametrize("value", [np.zeros(3, np.float32), np.zeros(2, np.float64)])
def test_values_that_do_not_fit_are_refused(tutorial: Document, value: np.ndarray) -> None:
    with pytest.raises(GradstepError, match=r"data|c"):
        document_edits.set_feed(tutorial, "data", value)
    with pytest.raises(GradstepError):
        document_edits.set_initial(tutorial, "c", value)


def test_an_array_of_objects_holds_texts_only(tutorial: Document) -> None:
    texts = document_edits.set_attr(tutorial, "data", "dtype", DType.STRING)
    document_edits.set_feed(texts, "data:0", np.array([b"a", "b"], object))
    for document in (
        texts,
        document_edits.remove_operations(texts, ["data"]),
    ):  # its type known, and not
        with pytest.raises(GradstepError, match="0 is a Python int, and no value of a tensor"):
            document_edits.set_feed(document, "data:0", np.zeros(2, object))
    with pytest.raises(GradstepError, match="0 is a Python int, and no value of a tensor"):
        document_edits.set_attr(tutorial, "k", "value", Constant(np.zeros(2, object)))


def test_an_op_becomes_a_python_function_that_computes_the_same(tutorial: Document) -> None:
    changed = document_edits.to_pyfunc(tutorial, "e", [TensorRef("d")])
    op = changed.graph["e"]
    assert op.type == "PyFunc"
    assert op.inputs == (TensorRef("c"), TensorRef("k"), TensorRef("d"))
    assert op.attrs[NATIVE_OP_TYPE] == "AddV2"
    source = changed.code[op.attrs["token"]].source
    scope: dict[str, object] = {"np": np}
    exec(source, scope)
    assert source == "def forward(c, k, d):\n    return c + k\n"
    assert scope["forward"](1, 2, 3) == 3  # type: ignore[operator]
    assert not infer(changed.graph).problems


def test_an_op_whose_output_nobody_knows_becomes_no_python_function(tutorial: Document) -> None:
    broken = document_edits.set_attr(
        tutorial, "c", "dtype", DType.FLOAT64
    )  # 'e' adds float32 to it
    with pytest.raises(GradstepError, match="what 'e' gives is not known"):
        document_edits.to_pyfunc(broken, "e")


def test_its_native_gradient_is_that_of_the_op_it_stands_for(tutorial: Document) -> None:
    plain, changed = derive(tutorial), derive(document_edits.to_pyfunc(tutorial, "e"), trusted=True)
    assert not changed.problems
    assert changed.gradients.keys() == plain.gradients.keys()


def test_code_is_added_replaced_and_removed(tutorial: Document) -> None:
    item = CodeItem("f", CodeKind.GRADIENT, "def f(op, g):\n    return g\n")
    coded = document_edits.set_code(tutorial, item)
    assert coded.code_hash != tutorial.code_hash
    assert document_edits.remove_code(coded, "f").code_hash == tutorial.code_hash


class Drawing(RuleBasedStateMachine):
    """However one draws, the document saves, loads as it was, and derives without raising."""

    def __init__(self) -> None:
        super().__init__()
        self.document = Document()

    def pick(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.document.graph.operations)))

    @rule(
        type=st.sampled_from(["Placeholder", "VariableV2", "Mul", "AddN", "Const", "Cast", "Sum"])
    )
    def add(self, type: str) -> None:
        self.document, _ = document_edits.add_operation(self.document, type, (8.0, 16.0))

    @precondition(lambda self: len(self.document.graph) > 1)
    @rule(data=st.data())
    def wire(self, data: st.DataObject) -> None:
        source, target = self.pick(data), self.pick(data)
        count = len(self.document.graph[target].inputs)
        if not count or target in self.document.graph.ancestors([source]):
            return
        edge = Edge(target, data.draw(st.integers(0, count - 1)))
        try:
            self.document = document_edits.connect(self.document, TensorRef(source), edge)
        except GradstepError:  # as a file may have it nevertheless
            graph = graph_edits.connect(self.document.graph, TensorRef(source), edge)
            self.document = self.document.with_(graph=graph)

    @precondition(lambda self: len(self.document.graph) > 0)
    @rule(data=st.data(), request=st.booleans())
    def ask_or_remove(self, data: st.DataObject, request: bool) -> None:
        name = self.pick(data)
        if request:
            self.document = document_edits.set_request(self.document, [name], [self.pick(data)])
        else:
            self.document = document_edits.remove_operations(self.document, [name])

    @precondition(lambda self: len(self.document.graph) > 0)
    @rule(data=st.data())
    def duplicate(self, data: st.DataObject) -> None:
        self.document, _ = document_edits.duplicate_operations(self.document, [self.pick(data)])

    @invariant()
    def it_derives(self) -> None:
        derive(self.document)

    @invariant()
    def nothing_speaks_of_what_is_not_there(self) -> None:
        document = self.document
        mentioned = {*document.initial, *document.view.positions}
        mentioned |= {TensorRef.parse(name).op for name in document.feeds}
        mentioned |= {ref.op for ref in (*document.request.of, *document.request.wrt)}
        assert mentioned <= set(document.graph.operations)

    def teardown(self) -> None:
        data = gradstep_file.to_bytes(self.document)
        assert gradstep_file.to_bytes(gradstep_file.from_bytes(data)) == data


TestDrawing = pytest.mark.slow(Drawing.TestCase)


def test_a_node_waits_for_another_and_no_longer() -> None:
    """A read after an assignment, which nothing wires to it."""
    builder = GraphBuilder()
    with builder.as_default():
        v = tf.get_variable("v", (), initializer=tf.ones_initializer())
        v.assign(5.0, name="set")
        tf.identity(v.handle, name="read")
    document = Document(graph=builder.build())

    def read(document: Document) -> float:
        session = Session(document.graph, initial={"v": np.float32(1)})
        return float(session.run([TensorRef("read")])[0])

    waiting = document_edits.add_control(document, "read", "set")
    assert read(document) == 1
    assert read(waiting) == 5
    assert document_edits.add_control(waiting, "read", "set").graph["read"].control_inputs == (
        "set",
    )
    assert read(document_edits.remove_control(waiting, "read", "set")) == 1
    for name, first, words in (
        ("set", "read", "close a cycle"),
        ("read", "nowhere", "no operation named"),
    ):
        with pytest.raises(GradstepError, match=words):
            document_edits.add_control(waiting, name, first)


def test_renaming_goes_into_the_texts_and_exemptions_of_breakpoints(tutorial: Document) -> None:
    point = Breakpoint("c", exempt=frozenset({"c", "k"}), log='{x["c:0"]} c {grad["c"]}')
    written = Breakpoint("c", BreakpointKind.WRITE)
    edited = document_edits.set_breakpoints(tutorial, [point, written])
    first, second = document_edits.rename_operation(edited, "c", "new").breakpoints
    assert first == Breakpoint(
        "new", exempt=frozenset({"new", "k"}), log='{x["new:0"]} c {grad["new"]}'
    )
    assert second.target == "new"


def test_logpoints_are_saved_as_a_newer_format_than_files_without(tutorial: Document) -> None:
    written = Breakpoint("c", BreakpointKind.WRITE, exempt=frozenset({"k"}))
    for added in (Breakpoint("c", log="c is {value}"), written):
        document = document_edits.set_breakpoints(tutorial, [added])
        data = gradstep_file.to_bytes(document)
        assert gradstep_file.from_bytes(data).breakpoints == (added,)
        assert version_of(data) == 6
    plain = document_edits.set_breakpoints(tutorial, [Breakpoint("c")])
    assert version_of(gradstep_file.to_bytes(plain)) < 6


def version_of(data: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return int(json.loads(archive.read("document.json"))["version"])
