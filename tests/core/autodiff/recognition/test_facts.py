"""What is found to be a gradient is what TensorFlow said when it made it, and has its value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from gradstep.core.autodiff.recognition.differentiated_losses import find_differentiated
from gradstep.core.autodiff.recognition.gradient_names import (
    GradientPlace,
    find_gradient_scopes,
    find_place_in,
)
from gradstep.core.autodiff.recognition.gradient_recognition import Recognised, recognise
from gradstep.core.autodiff.recognition.gradient_scope import GradientScope
from gradstep.core.autodiff.recognition.recognised_gradients import answer_request
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.variable import VARIABLES, is_trainable
from tests.support import gradient_facts as facts
from tests.support import oracle
from tests.support import tensorflow_graphs as written
from tests.support.each_case import each_of

CALLS = [(name, number) for name in facts.names() for number in range(len(facts.calls(name)))]
# TensorFlow alone knew these gradients.
THEIRS = "overridden"
ARTICLE = "article"  # it does not run without Python that it does not hold
ORACLE = oracle.CASES.parent / "graphs"


@cache
def found(name: str, number: int) -> Recognised:
    call, graph = facts.calls(name)[number], facts.document(name).graph
    return recognise(graph, call.scope, find_differentiated(GradientScope(graph, call.scope)))


@pytest.mark.parametrize(("name", "number"), CALLS)
def test_every_wire_carries_what_tensorflow_sent(name: str, number: int) -> None:
    """All of them, and nothing else; what is in a loop is not in this graph."""
    call, graph = facts.calls(name)[number], facts.document(name).graph
    known = found(name, number)
    sent = {edge: held for edge, held in call.edges.items() if edge.op in graph}
    assert {edge: known.edges.get(edge) for edge in sent} == sent
    assert len(sent) > 5
    summed = {
        ref: held
        for ref, held in call.gradients.items()
        if ref.op in graph and graph[ref.op].type != "Enter"  # whose Merge is in the loop
    }
    assert {ref: known.gradients.get(ref) for ref in summed} == summed


@pytest.mark.parametrize("name", facts.names())
def test_what_is_differentiated_and_by_what(name: str) -> None:
    """The losses and the variables, those without a gradient, too; what updates use comes first."""
    document, calls = facts.document(name), facts.calls(name)
    assert {one.scope: one.of for one in document.imported} == {c.scope: c.of for c in calls}
    for call in calls:
        one = next(one for one in document.imported if one.scope == call.scope)
        variables = [ref for ref in call.xs if document.graph[ref.op].type in VARIABLES]
        assert list(one.wrt) == (variables or list(call.xs))
        derived = answer_request(document.graph, one)
        none = {ref for ref, held in call.xs.items() if held is None}
        assert {ref for ref in one.wrt if ref not in derived.gradients} == none
    used = [one.scope for one in document.imported if _is_updated_with(document, one.scope)]
    assert used == [one.scope for one in document.imported][: len(used)]


def _is_updated_with(document: Document, scope: str) -> bool:
    applying = (op for op in document.graph if "Apply" in op.type)
    return any(ref and ref.op.startswith(f"{scope}/") for op in applying for ref in op.inputs)


@each_of("name", facts.names())
def test_what_is_trained_is_what_tensorflow_trains(name: str) -> None:
    """Never slots, powers of beta, counters or moving averages."""
    graph = facts.document(name).graph
    assert {op.name for op in graph if is_trainable(op)} == facts.trainable(name)


def test_the_gradient_that_is_none_ends_at_the_stop() -> None:
    document = facts.document("residual_network")
    for one in document.imported:
        derived = answer_request(document.graph, one)
        assert TensorRef("head/temperature") in one.wrt
        assert TensorRef("head/temperature") not in derived.gradients
        assert {edge.op: end.text for edge, end in derived.blocked.items()} == {
            "head/frozen_t": "StopGradient has no gradient"
        }


def test_a_gradient_that_only_the_program_knew() -> None:
    """What tf.custom_gradient gives None for is blocked; everything else is found."""
    document = facts.document(THEIRS)
    derived = answer_request(document.graph, document.imported[0])
    assert [str(edge) for edge in derived.blocked] == ["IdentityN<0"]
    (end,) = derived.blocked.values()
    assert end.cause == "override"
    assert end.text.startswith("gradient 'CustomGradient-")
    assert end.text.endswith("' returns None for this input")
    assert TensorRef("w") in derived.gradients


def test_rows_are_seen_as_a_whole_tensor() -> None:
    document = facts.document("embedding")
    derived = answer_request(document.graph, document.imported[0])
    table = TensorRef("table")
    assert derived.slices[table].values == TensorRef("gradients/concat")
    whole = derived.graph[derived.gradients[table].op]
    assert (whole.type, whole.origin, whole.phase) == (
        "UnsortedSegmentSum",
        "table/read",
        "backward",
    )
    order = [*derived.graph.operations]
    assert order.index(whole.name) < order.index("Adam/update_table/Unique")


# -- values ----------------------------------------------------------------------------------------


def _values(
    document: Document, graph: Graph, wanted: list[TensorRef], feeds: Mapping[TensorRef, np.ndarray]
) -> list[np.ndarray | None]:
    session = Session(graph)
    if document.init:
        first = Session(document.graph)
        first.run([], feeds, [document.init])
        for name, array in first.store.items():
            session.store.set(name, array)
    return session.values(wanted, {ref: x for ref, x in feeds.items() if ref.op in graph})


def _derived_anew(document: Document, held: Differentiation) -> Differentiation:
    """By Gradstep, with respect to all that the graph has the gradient of."""
    refs = tuple(ref for ref in held.gradients if ref.op in document.graph)
    starts = filter(None, held.request.grad_ys)
    names = document.graph.ancestors(ref.op for ref in (*held.of, *refs, *starts))
    forward = Graph.of(op for op in document.graph if op.name in names)
    request = GradientRequest(held.of, refs, grad_ys=held.request.grad_ys)
    return differentiate(forward, request, scope="anew")


def _require_equal(document: Document, feeds: Mapping[TensorRef, np.ndarray]) -> None:
    compared = 0
    for one in document.imported:
        held = answer_request(document.graph, one)
        anew = _derived_anew(document, held)
        pairs = []
        for mine, theirs in ((held.gradients, anew.gradients), (held.edges, anew.edges)):
            keys = [k for k in mine if k in theirs and theirs[k].op in anew.graph]
            assert {k for k in theirs if k in mine} >= {*keys}
            pairs += [(key, mine[key], theirs[key]) for key in keys]
        values = _values(document, held.graph, [ref for _, ref, _ in pairs], feeds)
        expected = _values(document, anew.graph, [ref for _, _, ref in pairs], feeds)
        for (key, _, _), value, right in zip(pairs, values, expected, strict=True):
            if value is None or right is None or right.dtype == object:
                continue  # in a branch that is not taken; a TensorArray's flow
            scale = float(np.max(np.abs(right), initial=0))
            atol = 1e-6 + 1e-5 * scale if np.isfinite(scale) else 1e-6
            assert value.shape == right.shape, key
            np.testing.assert_allclose(value, right, rtol=1e-4, atol=atol, err_msg=str(key))
            compared += 1
    assert compared > 2


@pytest.mark.parametrize("name", [name for name in facts.names() if name not in (THEIRS, ARTICLE)])
def test_every_gradient_equals_gradsteps_own(name: str) -> None:
    document = facts.document(name)
    variables = [op for op in document.graph if op.type in VARIABLES]
    assert variables
    _require_equal(document, facts.feeds(document))


RECORDED = [name for name in written.names() if b"gradients" in written.graph_bytes(name)]


@pytest.mark.parametrize("name", RECORDED)
def test_in_loops_branches_and_arrays_too(name: str) -> None:
    """Graphs of other tests: dynamic RNNs, TensorArrays, conds, gradients inside a cond."""
    document = written.document(name)
    feeds = next(written.steps(name)).feeds
    assert document.imported
    _require_equal(document, {TensorRef.parse(ref): x for ref, x in feeds.items()})


@pytest.mark.parametrize(
    ("name", "of", "wrt"),
    [
        ("simple_network_adam", "xent/value", {"c", "k"}),
        ("mnist_softmax", "cross_entropy", {"W", "b"}),
        ("two_path_gradient", "o", {"x"}),
        ("floor_stop_sign", "mul", {"x"}),
        ("gather_nd", "sampled", {"image"}),
    ],
)
def test_the_oracles_graphs(name: str, of: str, wrt: set[str]) -> None:
    document = read(ORACLE / f"{name}.pb")
    assert document.imported[0].of == (TensorRef(of),)
    assert {ref.op for ref in document.imported[0].wrt} == wrt
    _require_equal(document, facts.feeds(document))


# -- names ----------------------------------------------------------------------------------------


@each_of(
    ("name", "place"),
    [
        ("gradients/a/b_grad/Mul", ("gradients", "a/b")),
        ("train/gradients_1/a/b_grad_1/Mul", ("train/gradients_1", "a/b")),
        ("gradients/AddN_3", ("gradients", "")),
        ("gradients_1/gradients/a/b_grad/Mul_grad/Sum", ("gradients_1", "gradients/a/b_grad/Mul")),
        ("gradients/gone_grad/Mul", ("gradients", "")),
        ("a/b_grad/Mul", None),
        ("a/b", None),
    ],
)
def test_names(name: str, place: tuple[str, str] | None) -> None:
    names = {"a/b", "gradients/a/b_grad/Mul", "gradients/a/b_grad/Sum"}
    scopes = ["train/gradients_1", "gradients_1", "gradients"]
    assert find_place_in(name, scopes, names) == (None if place is None else GradientPlace(*place))


def test_scopes_are_found_whatever_they_are_called() -> None:
    plain = {"x", "net/mul", "net/mul_grad_of_x", "net/add_grad/mul"}
    assert find_gradient_scopes(plain) == []
    named = {*plain, "step/backprop/net/mul_grad/Mul", "step/backprop/grad_ys_0"}
    assert find_gradient_scopes(named) == ["step/backprop"]
    usual = {*plain, "gradients/net/mul_grad/Mul", "tower/gradients_2/net/mul_grad/Mul"}
    assert find_gradient_scopes(usual) == ["tower/gradients_2", "gradients"]
