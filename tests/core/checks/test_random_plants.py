"""In random graphs with one planted cause the cause is named; without one nothing is blamed.

A few dozen graphs as a rule. Two thousand, in about a minute:

    HYPOTHESIS_PROFILE=thorough ./dev test tests/core/checks/test_random_plants.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.graph.model import Graph
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.protocol.messages import Explanation
from tests.support.planted_blocks import BROKEN, HEALTHY, PLACES, SIZE, STOPPED, Plant, vector
from tests.support.whys import why_gradient, why_value


@dataclass(frozen=True)
class Drawn:
    """words: what it is made of."""

    graph: Graph
    values: dict[str, Any]
    at: int
    words: tuple[str, ...]


@st.composite
def drawn(draw: st.DrawFn, plants: dict[str, Plant]) -> tuple[Drawn, Plant | None]:
    """Healthy blocks, and one plant among them, if there are any, in a loop or cond perhaps."""
    names = st.lists(st.sampled_from(sorted(HEALTHY)), max_size=5)
    before, after = draw(names), draw(names)
    name = draw(st.sampled_from(sorted(plants))) if plants else ""
    at = draw(st.integers(0, SIZE - 1))
    place = draw(st.sampled_from(sorted(PLACES))) if plants else ""
    values = draw(st.lists(st.floats(0.25, 0.75, width=32), min_size=SIZE, max_size=SIZE))
    builder = GraphBuilder()
    with builder.as_default():
        y: Tensor = builder.placeholder("x", shape=[SIZE])
        for block in before:
            y = HEALTHY[block](y)
        if name:
            y = PLACES[place](lambda y: plants[name].block(y, at))(y)
        for block in after:
            y = HEALTHY[block](y)
        weights = vector(1, 2, 3, 5)
        tf.reduce_sum(y * weights, name="loss")
    words = (*before, f"<{name}{place and f' in {place}'}>", *after)
    return Drawn(builder.build(), {"x": values}, at, words), plants.get(name)


_SETTINGS = settings(deadline=None, suppress_health_check=[*HealthCheck])


def _last(name: str | None) -> str:
    return (name or "").rpartition("/")[2]


def _gradient(case: Drawn) -> Explanation:
    return why_gradient(case.graph, "loss", "x", case.values)


@_SETTINGS
@given(drawn(BROKEN))
@pytest.mark.slow
def test_what_makes_nan_and_infinity_is_named(found: tuple[Drawn, Plant]) -> None:
    case, plant = found
    said = why_value(case.graph, "loss", case.values)
    if said.state in ("nan", "inf"):  # not where what comes after makes it finite again
        told = (_last(said.node), said.index, said.cause)
        assert told == ("planted", [case.at], plant.causes[0]), (case.words, said.text)


@_SETTINGS
@given(drawn(STOPPED))
@pytest.mark.slow
def test_what_stops_a_gradient_is_named(found: tuple[Drawn, Plant]) -> None:
    case, plant = found
    said = _gradient(case)
    told = (said.state, _last(said.node), said.cause)
    assert told == ("zero", "planted", plant.causes[0]), (case.words, said.text)


@_SETTINGS
@given(drawn({}))
@pytest.mark.slow
def test_nothing_is_blamed_where_nothing_is_planted(found: tuple[Drawn, None]) -> None:
    case, _ = found
    for said in (why_value(case.graph, "loss", case.values), _gradient(case)):
        assert (said.state, said.cause, said.node, said.chain) == ("ok", "", None, []), (
            case.words,
            said.text,
        )


@pytest.mark.parametrize("place", PLACES)
def test_what_has_no_slope_is_named_wherever_it_is(place: str) -> None:
    """In a loop nothing computes the gradient that arrives there; in a cond the other branch has
    one that lies where this one's is."""
    builder = GraphBuilder()
    with builder.as_default():
        x: Tensor = builder.placeholder("x", shape=[SIZE])
        y = PLACES[place](lambda y: STOPPED["sign"].block(y, 0))(x * 0.5)
        tf.reduce_sum(y * vector(1, 2, 3, 5), name="loss")
    case = Drawn(builder.build(), {"x": [0.25, 0.5, 0.75, 0.5]}, 0, (place,))
    said = _gradient(case)
    assert (said.state, _last(said.node), said.cause) == ("zero", "planted", "flat"), said.text
    assert "other way" not in said.text
