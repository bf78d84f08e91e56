"""Routes after an edit share the curves of those before it, and change none of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.canvas.scene.link_detours import routed
from gradstep.gui.canvas.scene.link_routing import Routes
from gradstep.gui.canvas.scene.link_shapes import LEAST, SPARE
from gradstep.gui.canvas.scene.obstacles import Obstacles

NONE = Obstacles(np.zeros((0, 4)))


def some(count: int, seed: int) -> Routes:
    """Links anywhere."""
    return routed(np.random.default_rng(seed).uniform(-500, 500, (count, 2, 2)), NONE)


def state(routes: Routes) -> list[np.ndarray]:
    shapes = routes.shapes.taken(routes.rows)
    return [each.copy() for each in (routes.ports, routes.counts, routes.bounds, *shapes)]


def assert_alike(found: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_routes_after_many_edits_are_what_they_were_told_and_those_before_stay() -> None:
    rng, routes = np.random.default_rng(0), some(100, 0)
    seen, grown = [(routes, state(routes))], 0
    for edit in range(60):
        links = np.flatnonzero(rng.random(len(routes)) < 0.05)
        others = some(len(links), edit + 1)
        kept = np.sort(rng.choice(len(routes), len(routes) - edit % 2, replace=False))
        wanted = state(routes)
        for own, other in zip(wanted, state(others), strict=True):
            own[links] = other
        shapes = routes.shapes
        routes = routes.with_others(links, others)
        grown += routes.shapes is not shapes
        routes = routes.taken(kept)
        assert_alike(state(routes), [each[kept] for each in wanted])
        seen.append((routes, state(routes)))
    assert grown, "the memory that there was did not do for all of them"
    for before, was in seen:
        assert_alike(state(before), was)


@given(data=st.data())
def test_links_that_came_and_went_run_as_they_are_told(data: st.DataObject) -> None:
    """In runs that are copied in one go, and where each is looked up by itself."""
    routes = some(200, 0)
    left = data.draw(st.lists(st.integers(0, 199), max_size=8) | st.just([*range(0, 200, 2)]))
    numbers = [number for number in range(200) if number not in left]
    for place in data.draw(st.lists(st.integers(0, 100), max_size=4)):
        numbers.insert(place, -1)
    taken = np.array(numbers)
    new = np.flatnonzero(taken < 0)
    others = some(len(new), 1)
    found = state(routes.with_others(new, others, taken))
    wanted = [each[taken] for each in state(routes)]
    for own, other in zip(wanted, state(others), strict=True):
        own[new] = other
    assert_alike(found, wanted)
    kept = np.setdiff1d(np.arange(len(taken)), new)
    assert_alike(state(routes.taken(taken[kept])), [each[kept] for each in wanted])


def test_an_edit_copies_no_curves() -> None:
    routes = some(500, 0)
    again = routes.taken(np.arange(1, 500)).with_others(np.array([3, 7]), some(2, 1))
    assert again.shapes is routes.shapes
    assert again.shapes.used == 502
    assert len(routes.shapes.curves) == 500 + 500 // SPARE + LEAST


def test_there_is_room_for_however_many_links_run_elsewhere() -> None:
    routes, others = some(2 * LEAST, 0), some(2 * LEAST - 1, 1)
    found = routes.with_others(np.arange(1, 2 * LEAST), others)
    assert_alike(state(found.taken(np.arange(1, 2 * LEAST))), state(others))
    assert_alike(state(found.taken(np.array([0]))), state(routes.taken(np.array([0]))))


def test_a_copy_shares_nothing() -> None:
    routes = some(20, 0)
    was = state(routes)
    copy = routes.copy()
    copy.put(np.array([4, 5]), some(2, 1))
    assert_alike(state(routes), was)
    assert not np.array_equal(copy.curves[[4, 5]], routes.curves[[4, 5]])
    assert np.array_equal(copy.curves[[3, 6]], routes.curves[[3, 6]])


def test_a_box_concerns_the_links_of_these_routes_alone() -> None:
    routes = some(50, 0)
    everywhere = np.array([-1e4, -1e4, 2e4, 2e4])
    assert routes.concern(everywhere).shape == (50,)
    few = routes.taken(np.array([9, 2]))
    near = np.array([*few.ports[0, 0], 1.0, 1.0])
    assert few.concern(near).tolist() == routes.concern(near)[[9, 2]].tolist()
