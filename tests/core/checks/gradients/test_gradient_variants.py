"""Variants of a gradient: each is what it is called, and parts where something is in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.check.analytic_gradients import evaluate_gradients
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
)
from gradstep.core.checks.gradients.gradient_variants import compare_variants
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.parting_operation import is_same
from gradstep.core.checks.gradients.variant_sentences import VARIANTS
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.gradient_context import Situation, situation_of
from gradstep.core.protocol.messages import VariantCell
from tests.examples.build import FOLDER
from tests.support import gradient_facts as facts
from tests.support.each_case import each_of

V, W = np.array([0.5, -1.5, 2.25]), np.array([1.5, 0.25, -2.0])
WRT = (TensorRef("v"), TensorRef("w"), TensorRef("product"))


def network() -> Graph:
    """loss = sum((floor(v w) + v) sin(w) + sign(w))."""
    build = GraphBuilder()
    v, w = build.placeholder("v", "float64", (3,)), build.placeholder("w", "float64", (3,))
    product = build.one("Mul", v, w, name="product")
    rounded = build.one("Floor", product, name="rounded")
    around = build.one("AddV2", rounded, v, name="around")
    sine = build.one("Sin", w, name="sine")
    scaled = build.one("Mul", around, sine, name="scaled")
    sign = build.one("Sign", w, name="sign")
    build.one("AddV2", scaled, sign, name="loss")
    return build.build()


GRAPH = network()
PLAIN = GradientRequest.to("loss", *(ref.op for ref in WRT))
GIVEN: Mapping[TensorRef, np.ndarray] = {TensorRef("v"): V, TensorRef("w"): W}
FEEDS = {str(ref): Constant(value) for ref, value in GIVEN.items()}
WIRES = [Edge(op.name, index) for op in GRAPH for index in range(len(op.inputs))]
OVERRIDES = [
    Override("AddV2", "Mul"),  # a gradient that is wrong
    Override("Identity", "rounded", OverrideKind.OP),
    Override("Identity", "Sin"),
    Override("Identity", "sign", OverrideKind.OP, enabled=False),
]
bends = st.builds(
    lambda wires, stops, overrides: replace(
        PLAIN, stopped_edges=wires, stops=stops, overrides=tuple(overrides)
    ),
    st.frozensets(st.sampled_from(WIRES), max_size=3),
    st.frozensets(st.sampled_from([op.output() for op in GRAPH if op.inputs]), max_size=1),
    st.lists(st.sampled_from(OVERRIDES), max_size=2, unique=True),
)


def cells(
    request: GradientRequest, graph: Graph = GRAPH, elements: int = 64
) -> dict[tuple[str, str], VariantCell]:
    """By tensor and variant."""
    here = Situation(graph, request, {}, GIVEN)
    found = compare_variants(Evaluator({}), [here], elements)
    assert not found.errors
    return {(row.wrt, cell.variant): cell for row in found.rows for cell in row.cells}


def norms(request: GradientRequest) -> dict[str, object]:
    found = evaluate_gradients(Evaluator({}), GRAPH, request, GIVEN, {})
    return {ref.short: size(value) for ref, value in found.items()}


def size(value: np.ndarray | None) -> object:
    """Its norm, to be compared with."""
    return None if value is None else pytest.approx(float(np.linalg.norm(value)))


@settings(deadline=None)
@given(bends)
def test_every_variant_is_the_gradient_of_what_it_is_called(request: GradientRequest) -> None:
    found = cells(request, elements=0)
    no_stops = {"stops": frozenset[TensorRef](), "stopped_edges": frozenset[Edge]()}
    asked = {
        "native": PLAIN,
        "as it stands": request,
        "overrides only": replace(request, **no_stops),  # type: ignore[arg-type]
        "stops only": replace(request, overrides=()),
        "straight-through": replace(
            PLAIN, overrides=(Override("Identity", "Floor"), Override("Identity", "Sign"))
        ),
    }
    for variant, meant in asked.items():
        for name, norm in norms(meant).items():
            assert found[name, variant].norm == norm, variant


@settings(deadline=None)
@given(bends)
def test_as_it_stands_is_what_the_debugger_computes(request: GradientRequest) -> None:
    program = derive(Document(graph=GRAPH, request=request, feeds=FEEDS))
    session = DebugSession(program)
    session.command("continue_")
    here = situation_of(session, {})
    table = compare_variants(Evaluator({}), [here])
    for row in table.rows:
        [cell] = [cell for cell in row.cells if cell.variant == "as it stands"]
        assert cell.norm == size(session.frame().gradient(row.wrt))


@settings(deadline=None)
@given(bends)
def test_where_a_variant_parts_something_is_in_force(request: GradientRequest) -> None:
    """And it is on a way from the loss to the tensor."""
    for (name, variant), cell in cells(request, elements=0).items():
        assert cell.same == (not cell.node), (name, variant)
        if cell.same:
            continue
        op = GRAPH[cell.node]
        assert TensorRef.parse(name).op in GRAPH.ancestors([op.name])
        assert is_bent(op, request) or variant == "straight-through"
        if variant == "straight-through":
            assert op.type in ("Floor", "Sign")


def is_bent(op: Operation, request: GradientRequest) -> bool:
    overridden = any(one.enabled and one.matches(op) for one in request.overrides)
    stopped = any(edge.op == op.name for edge in request.stopped_edges)
    return overridden or stopped or op.output() in request.stops


def place(cell: VariantCell) -> tuple[str, str, str]:
    return cell.node, cell.type, cell.why


def test_a_stop_on_a_wire_is_named() -> None:
    found = cells(replace(PLAIN, stopped_edges=frozenset({Edge("scaled", 1)})))
    wire = ("scaled", "Mul", "stop on the wire sine → scaled")
    assert place(found["w", "as it stands"]) == place(found["w", "stops only"]) == wire
    assert found["w", "overrides only"].same
    assert found["v", "as it stands"].same  # it does not lie behind that wire


def test_a_stopped_tensor_is_named() -> None:
    found = cells(replace(PLAIN, stops=frozenset({TensorRef("around")})))
    assert place(found["v", "as it stands"]) == ("around", "AddV2", "stop at around")
    assert found["v", "as it stands"].norm is None
    assert found["v", "as it stands"].difference is None


def test_an_override_is_named_and_comes_before_a_stop_behind_it() -> None:
    request = replace(
        PLAIN, overrides=tuple(OVERRIDES[:1]), stopped_edges=frozenset({Edge("around", 1)})
    )
    found = cells(request)
    override = ("scaled", "Mul", "gradient AddV2 in place of Mul's own")
    assert place(found["v", "as it stands"]) == place(found["v", "overrides only"]) == override
    assert place(found["v", "stops only"])[0] == "around"


def test_straight_through_parts_at_what_rounds() -> None:
    found = cells(PLAIN)
    why = "gradient Identity in place of Floor's own, which is None"
    assert place(found["v", "straight-through"]) == ("rounded", "Floor", why)
    assert found["product", "native"].norm is None
    assert found["product", "straight-through"].norm == size(np.sin(W))
    assert found["w", "straight-through"].node == "sign"  # nearer to the loss


def test_the_numbers_support_the_native_gradient() -> None:
    found = cells(replace(PLAIN, overrides=tuple(OVERRIDES[:1])))
    for name in ("v", "w", "product"):
        assert found[name, "numeric"].same, name
    assert found["w", "numeric"].norm == pytest.approx(found["w", "native"].norm, rel=1e-6)


def test_a_gradient_that_operations_bring_along_is_no_native_one() -> None:
    own = {"_gradient_op_type": "AddV2"}
    ops = (op.with_attrs(**own) if op.name == "scaled" else op for op in GRAPH)
    found = cells(PLAIN, Graph.of(ops))
    assert found["v", "as it stands"].node == found["v", "overrides only"].node == "scaled"
    assert found["v", "stops only"].same
    assert found["v", "native"].norm == norms(PLAIN)["v"]


def test_the_graphs_own_gradients_part_where_they_are_others() -> None:
    """Somebody's Relu lets everything back."""
    document = facts.fed("adam_ref")
    op = document.graph["gradients/h_grad/ReluGrad"]
    wrong = replace(op, type="Identity", inputs=op.inputs[:1])
    graph = Graph.of(wrong if each is op else each for each in document.graph)
    program = derive(document.with_(graph=graph))
    here = situation_of(DebugSession(program), {})
    table = compare_variants(Evaluator({}), [*here.each(program.derived)], 64)
    parted = {(c.variant, c.node, c.why) for row in table.rows for c in row.cells if not c.same}
    assert parted == {("as it stands", "h", "the graph's own gradients, in gradients/")}


def test_a_native_gradient_that_is_nan_parts_from_the_numbers_where_it_begins() -> None:
    document = read(FOLDER / "where_nan_trap.gradstep")
    program = derive(document)
    here = situation_of(DebugSession(program), {})
    table = compare_variants(Evaluator({}), [*here.each(program.derived)], 64)
    cell = {(row.wrt, c.variant): c for row in table.rows for c in row.cells}["log/x", "numeric"]
    assert cell.type == "Log"
    assert cell.why == "its gradient is NaN or infinite"


def test_numbers_of_few_elements_say_so() -> None:
    found = cells(PLAIN, elements=3)
    assert found["v", "numeric"].looked_at == 1
    assert found["v", "native"].looked_at == 3


def test_a_native_gradient_that_is_wrong_parts_from_the_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gradstep.core.ops.declare import table
    from gradstep.core.ops.declare.declared_gradient import Gradient

    off = replace(table.lookup("Sin"), gradient=Gradient(lambda op, g: g * 2.0))
    monkeypatch.setitem(table._TABLE, "Sin", off)
    found = cells(PLAIN)
    assert found["w", "numeric"].node == "sine"
    assert not found["w", "numeric"].same
    assert found["v", "numeric"].same


def test_a_gradient_that_fails_leaves_the_others() -> None:
    request = replace(PLAIN, overrides=(Override("Nobody", "Sin"),))
    here = Situation(GRAPH, request, {}, GIVEN)
    found = compare_variants(Evaluator({}), [here], 8)
    assert found.errors.keys() == {"as it stands", "overrides only"}
    assert "'Nobody', which is not registered" in found.errors["as it stands"]
    left: Sequence[str] = [cell.variant for cell in found.rows[0].cells]
    assert left == [v for v in VARIANTS if v not in found.errors]


@pytest.mark.parametrize("elements", [0, 4])
def test_of_a_string_there_is_no_gradient_in_any_variant(elements: int) -> None:
    """Nor where zeros are wished for in place of None, which are strings, too."""
    build = GraphBuilder()
    build.one("Identity", build.constant(np.array("a", object)), name="loss")
    words = build.one("Identity", build.constant(np.array(["b", "c"], object)), name="words")
    request = replace(GradientRequest.to("loss", words.name), unconnected_zero=True)
    here = Situation(build.build(), request, {}, {})
    (row,) = compare_variants(Evaluator({}), [here], elements).rows
    assert row.cells
    assert all(cell.same and cell.norm is None for cell in row.cells)


def test_nothing_asked_for_is_said() -> None:
    with pytest.raises(GradstepError, match="no gradient is asked for"):
        compare_variants(Evaluator({}), [Situation(GRAPH, GradientRequest(), {}, GIVEN)])


@each_of(
    ("left", "right", "same"),
    [
        ([1.0, 2.0], [1.0, 2.0 + 1e-15], True),
        ([1.0, 2.0], [1.0, 2.001], False),
        ([1e200, 0.0], [2e200, 0.0], False),
        ([0.0], [0.0], True),
        ([0.0], None, False),
        (None, None, True),
        ([np.nan, 1.0], [np.nan, 1.0], True),
        ([np.inf], [-np.inf], False),
        ([], [], True),
    ],
)
def test_two_gradients_are_one_but_for_rounding(
    left: list[float] | None, right: list[float] | None, same: bool
) -> None:
    one, other = (None if x is None else np.array(x) for x in (left, right))
    assert is_same(one, other) == same
