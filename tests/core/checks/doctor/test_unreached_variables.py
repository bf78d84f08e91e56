"""Variables that no loss reaches: why, and where somebody meant it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings

CODE = "unreached-variable"


def two(b: GraphBuilder, bend: str = "") -> None:
    """loss = u² · bend(v)²."""
    u, v = b.variable("u"), b.variable("v")
    bent = {"": lambda: v, "floor": lambda: tf.floor(v, name="f")}
    bent["stop"] = lambda: tf.stop_gradient(v, name="s")
    tf.square(tf.multiply(u, bent[bend](), name="p"), name="loss")


def asked(draw: object, *wrt: str, **parts: object) -> Document:
    return drawn(draw, "loss", wrt, initial={"u": 1.0, "v": 2.0}, **parts)  # type: ignore[arg-type]


def test_a_gradient_that_ends_on_the_way_is_said_with_where() -> None:
    (found,) = findings(asked(lambda b: two(b, "floor"), "u", "v"), CODE)
    assert (found.node, found.severity) == ("v", "info")
    assert "the gradient ends at f" in found.text


def test_what_an_optimizer_trains_is_a_warning() -> None:
    sgd = Optimizer("GradientDescent", {"learning_rate": 0.1})
    document = asked(lambda b: two(b, "floor"), "u", "v", optimizers=(sgd,))
    (found,) = findings(document, CODE)
    assert found.severity == "warning"
    assert "no optimizer ever changes it" in found.text
    assert not findings(
        document.with_(
            optimizers=(replace(sgd, wrt=(TensorRef("u"),)),),
            request=replace(document.request, wrt=(TensorRef("u"),)),
        ),
        CODE,
    )


def test_one_that_no_wire_leads_from() -> None:
    def draw(b: GraphBuilder) -> None:
        u, _ = b.variable("u"), b.variable("v")
        tf.square(u, name="loss")

    (found,) = findings(asked(draw, "u", "v"), CODE)
    assert "no wire leads from v to loss" in found.text


@pytest.mark.parametrize("bend", ["", "stop"])
def test_what_is_reached_or_stopped_on_purpose_is_not_said(bend: str) -> None:
    assert not findings(asked(lambda b: two(b, bend), "u", "v"), CODE)


def test_a_stop_of_the_request_is_on_purpose() -> None:
    document = asked(two, "u", "v")
    stopped = replace(document.request, stopped_edges=frozenset({Edge("p", 1)}))
    assert not findings(document.with_(request=stopped), CODE)


def test_a_variable_that_nobody_asks_about_is_not_said() -> None:
    assert not findings(asked(lambda b: two(b, "floor"), "u"), CODE)


def test_one_of_two_losses_is_enough() -> None:
    def draw(b: GraphBuilder) -> None:
        u, v = b.variable("u"), b.variable("v")
        tf.square(u, name="loss")
        tf.square(v, name="other")

    document = asked(draw, "u", "v")
    request = replace(document.request, of=(TensorRef("loss"), TensorRef("other")))
    assert not findings(document.with_(request=request), CODE)
