"""What a session looks up once serves every later run as if it were looked up again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.engine.run.chosen_rows import ChosenRows
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.drawn_share import share
from tests.support.layouts import Bits, bits


def graph() -> Graph:
    """Feeds of known and unknown shape, text, state of each kind, and what may be dead."""
    b = GraphBuilder()
    with b.as_default():
        x, p = b.placeholder("x", shape=(2,)), b.placeholder("p", shape=(None, 2))
        i, s = b.placeholder("i", "int32", ()), b.placeholder("s", "string", (None,))
        n = b.variable("n", shape=(2,))
        b.variable("late", shape=(2,))
        b.one("Assign", b.get("late"), x, name="init")
        b.one("AssignAdd", n, x, name="count")
        b.one("AssignAdd", b.variable("loose", shape=None), 1.0, name="grow")
        b.one("AddV2", x, n, name="sum")
        b.one("Identity", s, name="text")
        b.one("Sum", p, np.array([0], np.int32), name="columns")
        b.one("Log", x, name="log")
        b.one("Where", x > 0.0, name="places")
        b.op("Switch", x, i > 0, name="parted")
        tf.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y * 2.0), [0, x], name="loop")
    return b.build()


GRAPH = graph()
INITIAL = {"n": np.array([10, 20], np.float32), "loose": np.zeros(3, np.float32)}
FETCHES = [
    *("sum", "sum:0", "n", "late", "text", "columns", "log", "places", "loop/Exit_1", "grow"),
    *("parted:0", "parted:1", "i", "x", "nowhere", "sum:1", "init", "loop/LoopCond"),
]
VALUES: dict[str, list[Any]] = {
    "x": [
        np.array([1, 2], np.float32),
        np.array([-1.0, 1e300]),
        [3, 4],
        np.array([1, 2], ">f4"),
        np.ma.masked_array([1, 2], [True, False], np.float32),
        np.ones(3, np.float32),
        np.float32(1),
        [[1.0], [1.0, 2.0]],
        None,
    ],
    "p": [np.ones((1, 2), np.float32), np.ones((3, 2), np.float32)[::2], np.ones((2, 3)), []],
    "i": [0, 2, 1 << 40, 1.5, np.int32(1), np.array(3, np.int32), "no number"],
    "s": [["a", b"b"], np.array(["c"], object), np.array([1, 2], object), []],
    "sum": [np.array([5, 6], np.float32)],
    "nowhere": [1],
}
TARGETS = ["count", "init", "grow", "nothing"]


Question = tuple[list[Any], list[Any], list[str]]  # fetches, keys of feeds, targets
Wanted = tuple[list[Any], dict[Any, Any], list[str]]  # the same, fed
Run = Callable[[], list[Any]]


def spelt(draw: st.DrawFn, name: str) -> Any:
    """A tensor by one of its names, or itself."""
    ref = TensorRef.parse(name)
    return draw(st.sampled_from([name, str(ref), ref]))


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Half of them such as can be answered, if what is fed can be taken."""
    sound = draw(st.booleans())
    names = draw(st.lists(st.sampled_from(FETCHES[:10] if sound else FETCHES), max_size=3))
    fed = draw(st.permutations(["x", "i", "s", "p"]))
    if not sound:
        fed = draw(st.lists(st.sampled_from([*VALUES]), max_size=5))
    targets = draw(st.lists(st.sampled_from(TARGETS[:1] if sound else TARGETS), max_size=1))
    return [spelt(draw, n) for n in names], [spelt(draw, n) for n in fed], targets


def fill(keys: list[Any], random: Random) -> dict[Any, Any]:
    """Feeds for these keys, mostly such as fit. Arrays are nobody else's."""
    found = {}
    for key in keys:
        values = VALUES[(TensorRef.parse(key) if isinstance(key, str) else key).op]
        found[key] = copy(random.choice(values) if random.random() < 0.2 else values[0])
    return found


def spoil(arrays: Iterable[Any]) -> None:
    """Write to arrays, as their owner may."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array[...] = "spoilt" if array.dtype.hasobject else array.dtype.type(77)


Told = tuple[list[Bits | None] | str, Mapping[str, Bits]]


def told(session: Session, run: Callable[[], list[Any]]) -> Told:
    """What a run gives, to the last bit or the last word, and leaves. Whoever got the results
    writes to them."""
    try:
        found = run()
    except (GradstepError, TypeError) as error:
        more = [getattr(error, name, "") for name in ("kind", "node", "hint")]
        return f"{error} {more}", variables(session)
    seen = [None if x is None else bits(x) for x in found]
    spoil(found)
    return seen, variables(session)


def called(session: Session, wanted: Wanted) -> Run | None:
    """As a callable, whose feeds are written to once it is made; None if it cannot be."""
    fetches, feeds, targets = wanted
    mine = {key: copy(value) for key, value in feeds.items()}
    try:
        made = session.make_callable(fetches, mine, targets)
    except (GradstepError, TypeError):
        return None
    spoil(mine.values())
    return made


def variables(session: Session) -> dict[str, Bits]:
    return {name: bits(array) for name, array in session.store.items()}


def anew(session: Session) -> Session:
    """A session that has looked nothing up yet, with the same variables."""
    values = {name: np.array(array) for name, array in session.store.items()}
    return Session(GRAPH, initial=values, fast=session.fast)


@given(st.booleans(), st.lists(questions(), min_size=1, max_size=3), st.randoms())
@pytest.mark.slow
def test_a_session_runs_as_one_that_looks_everything_up(
    fast: bool, asked: list[Question], random: Random
) -> None:
    """Also from feeds that others write to, and by callables, whatever else runs in between."""
    session = Session(GRAPH, initial=INITIAL, fast=fast)
    callables: list[tuple[Wanted, Run]] = []
    for fetches, keys, targets in random.choices(asked, k=14):
        if callables and random.random() < 0.3:
            wanted, run = random.choice(callables)
        else:
            wanted = fetches, fill(keys, random), targets
            again = called(session, wanted) if random.random() < 0.3 else None
            run = again or partial(session.run, *wanted)
            if again:
                callables.append((wanted, again))
        other = anew(session)
        want = told(other, partial(other.run, *wanted))
        assert told(session, run) == want


@settings(max_examples=share(15))
@given(st.booleans(), questions(), st.randoms())
def test_what_is_dead_is_none_again_and_again(fast: bool, asked: Question, random: Random) -> None:
    session, (fetches, keys, targets) = Session(GRAPH, initial=INITIAL, fast=fast), asked
    for _ in range(6):
        wanted = [*fetches, "parted:0", "parted:1"], fill(keys, random), targets
        other = anew(session)
        want = told(other, partial(other.values, *wanted))
        assert told(session, partial(session.values, *wanted)) == want


@pytest.mark.parametrize("fast", [False, True])
def test_two_callables_of_one_plan_keep_their_own_feeds(fast: bool) -> None:
    session = Session(GRAPH, initial=INITIAL, fast=fast)
    one, two = (session.make_callable(["log"], {"x": [x, x]}) for x in (1.0, np.e))
    np.testing.assert_allclose([one()[0], two()[0], one()[0]], [[0, 0], [1, 1], [0, 0]], atol=1e-6)
    assert len(session.recordings) == 1


def test_one_plan_serves_every_spelling_and_order() -> None:
    session = Session(GRAPH, initial=INITIAL)
    x, i = np.ones(2, np.float32), np.array(3, np.int32)
    for fed in ({"x": x, "i": i}, {"i:0": i, TensorRef("x"): [1, 1]}, {TensorRef("i"): 3, "x": x}):
        for fetch in ("loop/Exit_1", TensorRef("loop/Exit_1")):
            assert session.run([fetch], fed)[0].tolist() == [8, 8]
    assert len(session.recordings) == 1


def test_plans_of_many_shapes_are_let_go_of() -> None:
    session = Session(GRAPH, initial=INITIAL)
    for rows in (*range(80), 3):
        fed = {"p": np.ones((rows, 2), np.float32)}
        assert session.run(["columns"], fed)[0].tolist() == [rows, rows]
    assert len(session.recordings) == 8


def test_a_callable_outlives_its_plan_and_the_shape_of_its_variables() -> None:
    session = Session(GRAPH, initial=INITIAL, fast=True)
    call = session.make_callable(["grow"], {})
    assert call()[0].tolist() == [1, 1, 1]
    session.store.set("loose", np.zeros(2, np.float32))
    assert call()[0].tolist() == [1, 1]
    for rows in range(9):
        session.run(["columns"], {"p": np.ones((rows, 2), np.float32)})
    assert call()[0].tolist() == [2, 2]


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["rows", "array", "float64"]))))
def test_what_is_fed_another_value_each_time_gives_what_run_gives(steps: list[Any]) -> None:
    """Rows that are taken where they are fed, arrays, and numbers that have to be converted; of
    changing counts. The feeds come in an order that is not that of their names."""
    b = GraphBuilder()
    y, x = b.placeholder("y", shape=(None, 2)), b.placeholder("x", shape=(None, 2))
    b.one(
        "AssignAdd",
        b.variable("w", shape=()),
        b.one("Sum", b.one("Mul", x, y), np.array([0, 1], np.int32)),
        name="grow",
    )
    b.one("Sub", x, y, name="d")
    graph, start = b.build(), {"w": np.array(1, np.float32)}
    plain, fast = (Session(graph, initial=start, fast=True) for _ in range(2))
    rows = np.random.default_rng(3).normal(size=(9, 2)).astype(np.float32)
    made = fast.make_fed(["d", "grow"], ["y", "x"])
    for number, (count, how) in enumerate(steps):
        places = np.arange(number, number + 2 * count) % len(rows)
        y_rows, x_rows = places[:count], places[count:]
        given = [ChosenRows(rows, y_rows), ChosenRows(rows, x_rows)]
        arrays = [rows[y_rows], rows[x_rows].astype("float64" if how == "float64" else "float32")]
        found = made(given if how == "rows" else arrays)
        expected = plain.run(["d", "grow"], {"x": arrays[1], "y": arrays[0]})
        for mine, other in zip(found, expected, strict=True):
            assert mine is not None
            assert mine.tobytes() == other.tobytes()
        if how != "rows" and count < 3:  # another question in between
            fast.run(["d"], {"x": arrays[1] + 1, "y": arrays[0]})


def test_a_wrong_shape_is_refused_each_time() -> None:
    b = GraphBuilder()
    b.one("Neg", b.placeholder("x", shape=(None, 2)), name="n")
    made = Session(b.build(), fast=True).make_fed(["n"], ["x"])
    for _ in range(2):
        with pytest.raises(GradstepError, match="Cannot feed value of shape"):
            made([np.zeros((2, 3), np.float32)])
    (found,) = made([np.ones((1, 2), np.float32)])
    assert found is not None
    assert found.tolist() == [[-1, -1]]
