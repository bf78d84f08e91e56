"""Stops and overrides: those that change a gradient, and those that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.document.document import Document
from gradstep.core.document.lint_remedies import mend
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings


def both(b: GraphBuilder) -> None:
    """loss = (2u)² + 3v, and something beside."""
    u, v = b.variable("u"), b.variable("v")
    twice = tf.multiply(u, 2.0, name="twice")
    tf.add(tf.square(twice, name="square"), tf.multiply(v, 3.0, name="thrice"), name="loss")
    tf.negative(tf.negative(u, name="beside"), name="aside")


def bent(wrt: tuple[str, ...] = ("u",), **request: object) -> Document:
    document = drawn(both, "loss", wrt, initial={"u": 1.0, "v": 2.0}, fetches=["aside"])
    return document.with_(request=replace(document.request, **request))  # type: ignore[arg-type]


@pytest.mark.parametrize("at", ["twice", "square"])
def test_a_stop_on_the_way_has_an_effect(at: str) -> None:
    assert not findings(bent(stops=frozenset({TensorRef(at)})), "idle-stop")
    wire = Edge("square", 0) if at == "twice" else Edge("loss", 0)
    assert not findings(bent(stopped_edges=frozenset({wire})), "idle-stop")


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ("thrice", "no gradient that is asked for comes by"),
        ("beside", "no loss is computed from beside"),
        ("u", "where gradients end anyway"),
        ("gone", "there is no operation gone"),
    ],
)
def test_a_stop_beside_the_way_is_said_and_taken_away(at: str, why: str) -> None:
    document = bent(stops=frozenset({TensorRef(at)}))
    (found,) = findings(document, "idle-stop")
    assert why in found.text
    assert found.remedy is not None
    mended = mend(document, found.remedy.kind, found.remedy.names)
    assert not mended.request.stops


def test_a_stopped_wire_that_nothing_comes_over_is_taken_away() -> None:
    document = bent(stopped_edges=frozenset({Edge("loss", 1)}))
    (found,) = findings(document, "idle-stop")
    assert (found.node, found.remedy is not None) == ("loss", True)
    assert found.remedy is not None
    assert not mend(document, found.remedy.kind, found.remedy.names).request.stopped_edges


def test_a_second_stop_behind_a_first_holds_nothing_back() -> None:
    document = bent(stops=frozenset({TensorRef("twice"), TensorRef("square")}))
    (found,) = findings(document, "idle-stop")
    assert found.node == "twice"


def test_an_override_that_is_called_has_an_effect() -> None:
    assert not findings(bent(overrides=(Override("Identity", "Square"),)), "idle-override")


def test_an_override_beside_the_way_is_said_and_switched_off() -> None:
    document = bent(overrides=(Override("Identity", "Neg"),))
    (found,) = findings(document, "idle-override")
    assert "matches 2 operations, but no loss is computed from them" in found.text
    assert found.remedy is not None
    mended = mend(document, found.remedy.kind, found.remedy.names)
    assert not mended.request.overrides[0].enabled
    assert not findings(mended, "idle-override")


def test_an_override_that_matches_nothing_is_another_problem() -> None:
    assert not findings(
        bent(overrides=(Override("Identity", "gone", OverrideKind.OP),)), "idle-override"
    )
