"""Training comes to where stepping through its runs comes, to the bit, however it is stopped."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.cancellation import Cancelled
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.curves import FetchedValues
from gradstep.core.debug.breaks.missing_number import is_not_there
from gradstep.core.debug.history import fast_runs
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import assign
from gradstep.core.debug.motion import look_budget
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.look_budget import LookBudget
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.debug.motion.training import Training, Wish
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.debug.conftest import floats, trained
from tests.support.drawn_share import share

LOSS = TensorRef("loss")
MOST = 90


def noisy() -> Program:
    """It trains `w` by Adam on what is noise in every run: each run hangs on the one before, and
    draws numbers of its own."""
    b = GraphBuilder()
    x, w = b.placeholder("x", shape=(3,)), b.variable("w", shape=(3,))
    noise = b.one(
        "RandomStandardNormal",
        np.array([3], np.int32),
        name="noise",
        seed=3,
        seed2=4,
        dtype=DType.FLOAT32,
    )
    d = b.one("Sub", b.one("Mul", w, x, name="p"), noise, name="d")
    b.op("Sum", b.one("Mul", d, d, name="q"), np.array([0], np.int32), name="loss")
    program = trained(b, "loss", {"w": floats(1, 2, 3)}, {"x": floats(1, -2, 0.5)})
    gradient = program.gradients[TensorRef("w")]
    return replace(program, fetches=(*program.fetches, gradient))


@cache
def stepped() -> tuple[Program, Sequence[dict[str, np.ndarray]]]:
    """What every run of it ends with, each recorded in the debugger."""
    program = noisy()
    session = DebugSession(program)
    ends = []
    for _ in range(MOST):
        session.continue_()
        ends.append(held(session))
    return program, ends


def held(session: DebugSession) -> dict[str, np.ndarray]:
    frame = session.frame()
    found = {name: frame.value(name) for name in ("w", "w/Adam", "w/Adam_1", "noise", "loss")}
    found["gradient"] = frame.gradient("w")
    assert all(value is not None for value in found.values())
    return {name: np.asarray(value) for name, value in found.items()}


def at_end(session: DebugSession, ends: Sequence[dict[str, np.ndarray]], run: int) -> None:
    """It stands at the end of a run, with everything there that stepping found there."""
    assert (session.stop.run, session.stop.step) == (run, len(session.plan.steps))
    for name, value in held(session).items():
        np.testing.assert_array_equal(value, ends[run][name], err_msg=name)


class Followed:
    """What is told of a training, and what it is asked to do after some run."""

    def __init__(self, session: DebugSession, stop_after: int = -1) -> None:
        self.session, self.stop_after = session, stop_after
        self.told: list[tuple[int, float]] = []

    def __call__(self, run: int, numbers: Sequence[float]) -> None:
        self.told.append((run, numbers[0]))
        if run == self.stop_after:
            self.session.pause()


def train(
    session: DebugSession, steps: int, until: str = "", stop_after: int = -1
) -> tuple[Training, list[tuple[int, float]]]:
    followed = Followed(session, stop_after)
    curves = session.curves(['x["loss:0"]'], until, LOSS)
    return session.train(Wish(steps, curves, [LOSS], followed)), followed.told


MOVES = st.one_of(
    st.tuples(st.just("train"), st.integers(1, 30)),
    st.tuples(st.just("pause"), st.integers(0, 20)),
    st.tuples(st.just("continue"), st.just(0)),
    st.tuples(st.just("click"), st.floats(0, 1, exclude_max=True)),
    st.tuples(st.just("step"), st.just(0)),
)


@settings(deadline=None)
@given(
    moves=st.lists(MOVES, min_size=2, max_size=7),
    limit=st.sampled_from([0, 3000, 1 << 30]),
    blink=st.sampled_from([0.0, 1e9]),
)
@pytest.mark.slow
def test_every_way_leads_to_what_stepping_finds(
    moves: list[tuple[str, float]], limit: int, blink: float
) -> None:
    program, ends = stepped()
    session, newest = DebugSession(program, limit_bytes=limit), -1
    whole = len(session.plan.steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_runs.Pace, "BLINK", blink)  # every start is kept, or nearly none
        for move, number in moves:
            done = session.stop.runs - (session.timeline.done(session.stop.runs - 1) < whole)
            if move == "step":
                session.step()
            elif move == "continue":
                session.continue_()
            elif move == "click" and done:
                run = int(number * done)
                session.run_to(f"{run}:{whole}")
                at_end(session, ends, run)
            elif move in ("train", "pause"):
                steps = int(number) if move == "train" else 25
                if done + steps >= MOST:
                    break
                last = done + (int(number) if move == "pause" else -1)
                went, told = train(session, steps, stop_after=last)
                assert [run for run, _ in told] == [*range(done, done + went.made)]
                assert [x for _, x in told] == [float(ends[r]["loss"]) for r, _ in told]
                if move == "train":
                    assert (went.made, went.stop.reason) == (steps, Reason.END)
                else:
                    assert went.made in (int(number) + 1, int(number) + 2)
                newest = done + went.made - 1
                at_end(session, ends, newest)


def test_it_stands_at_the_step_after_which_the_condition_holds() -> None:
    program, ends = stepped()
    session = DebugSession(program)
    wanted = max(range(5, 60), key=lambda run: float(ends[run]["loss"]))
    most = float(ends[wanted]["loss"])
    first = next(run for run in range(60) if float(ends[run]["loss"]) >= most)
    went, told = train(session, 80, f"value >= {most!r}")
    at_end(session, ends, first)
    assert went.made == len(told) == first + 1
    assert "holds" in went.ended


def test_a_run_to_a_place_far_ahead_records_only_the_last() -> None:
    program, ends = stepped()
    session = DebugSession(program)
    session.run_to(f"{MOST - 1}:{len(session.plan.steps)}")
    at_end(session, ends, MOST - 1)
    assert len(session.timeline._kept) < 3
    session.run_to(f"40:{len(session.plan.steps)}")
    at_end(session, ends, 40)


def test_breakpoints_stop_it_at_their_operation_in_the_first_run_in_which_they_hold() -> None:
    program, ends = stepped()
    session = DebugSession(program)
    limit = max(float(end["loss"]) for end in ends[:20])
    first = next(run for run in range(60) if float(ends[run]["loss"]) >= limit)
    session.set_breakpoints([Breakpoint("loss", condition=f"value >= {limit!r}")])
    went, told = train(session, 80)
    assert (went.stop.reason, went.stop.run, went.stop.hit) == (Reason.BREAKPOINT, first, "loss")
    assert went.made == len(told) == first


def test_a_variable_that_was_changed_by_hand_is_trained_from_there() -> None:
    program, _ = stepped()
    slow, fast = DebugSession(program), DebugSession(program)
    for session in (slow, fast):
        session.run_to(f"3:{len(session.plan.steps)}")
        assign([session], {"w": floats(9, 9, 9)})
    for _ in range(30):
        slow.continue_()
    train(fast, 30)
    for name, value in held(slow).items():
        np.testing.assert_array_equal(held(fast)[name], value)
    for session in (slow, fast):
        session.run_to(f"12:{len(session.plan.steps)}")
    for name, value in held(slow).items():
        np.testing.assert_array_equal(held(fast)[name], value)


def diverging(build: Callable[[GraphBuilder], object]) -> Program:
    """`w` doubles in every run, which ends badly."""
    b = GraphBuilder()
    w = b.variable("w", shape=())
    b.one("Assign", w, b.one("Mul", w, np.float32(2), name="twice"), name="up")
    build(b)
    graph = b.build()
    return Program(
        graph,
        graph,
        fetches=(LOSS,),
        targets=("up",),
        initial={"w": np.float32(1)},
    )


def test_a_step_that_fails_is_where_it_stands_with_all_values_before() -> None:
    def build(b: GraphBuilder) -> None:
        index = b.one("Cast", b.get("w"), name="index", DstT=DType.INT32)
        b.one("GatherV2", np.zeros(1000, np.float32), index, np.int32(0), name="loss")

    session = DebugSession(diverging(build))
    went, told = train(session, 100)
    assert went.stop.reason is Reason.EXCEPTION
    assert (went.stop.run, went.stop.op, went.made) == (9, "loss", 9)
    assert session.frame().value("index") == 1024
    assert len(told) == 9


def test_a_loss_that_is_not_finite_any_more_ends_it_there() -> None:
    session = DebugSession(diverging(lambda b: b.one("Square", b.get("w"), name="loss")))
    went, told = train(session, 500)
    assert went.ended == "loss is infinite"
    assert (went.stop.run, went.stop.reason) == (63, Reason.END)
    assert np.isinf(session.frame().value("loss"))
    assert np.isinf(told[-1][1])
    assert np.isfinite(told[-2][1])


@pytest.mark.parametrize(
    ("text", "says"),
    [('x["nothing:0"]', "runs do not compute 'nothing'"), ("x[", "cannot evaluate")],
)
def test_what_cannot_be_followed_is_said_before_anything_runs(text: str, says: str) -> None:
    session = DebugSession(stepped()[0])
    with pytest.raises(GradstepError, match=says):
        session.train(Wish(3, session.curves([text])))
    assert session.stop.runs == 1


@pytest.mark.parametrize("before", [0, 5])
def test_a_curve_of_several_numbers_is_told_of_and_the_others_go_on(before: int) -> None:
    program, ends = stepped()
    session = DebugSession(program)
    if before:
        train(session, before)
    told: list[float] = []
    curves = session.curves(['x["w:0"]', 'sum(x["w:0"])'])
    went = session.train(Wish(30, curves, tell=lambda run, row: told.extend(row)))
    assert "is 3 numbers" in went.wrong['x["w:0"]'].message
    assert not went.ended
    assert is_not_there(np.array(told[::2])).all()
    assert np.isfinite(told[1::2]).all()
    at_end(session, ends, before + 29)


def test_beside_a_curve_that_is_known_to_be_wrong_each_is_computed_once() -> None:
    session = DebugSession(stepped()[0])
    curves = session.curves(['x["w:0"]', 'sum(x["w:0"])'])
    asked: list[TensorRef] = []

    class Fetched(dict[Any, np.ndarray]):
        def get(self, ref: Any, default: Any = None) -> Any:
            asked.append(ref)
            return super().get(ref, default)

    w, wrong = TensorRef("w"), dict[str, GradstepError]()
    values = FetchedValues(Fetched({w: np.arange(3.0)}), curves.holders)
    first = curves.read(values, wrong)
    assert [*wrong] == ['x["w:0"]']
    asked.clear()
    assert np.array_equal(curves.read(values, wrong), first, equal_nan=True)
    assert asked == [w, w]


@settings(deadline=None)
@given(looks=st.integers(0, 130))
@pytest.mark.slow
def test_a_run_is_told_of_once_it_is_done_whenever_the_pause_comes(looks: int) -> None:
    program, ends = stepped()
    session = DebugSession(program)
    pausing, left = session._cursor._pausing, [looks]

    def is_set() -> bool:
        left[0] -= 1
        return left[0] < 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pausing, "is_set", is_set)
        went, told = train(session, 40)
    stop = went.stop
    assert stop.reason is Reason.PAUSE or went.made == 40
    done = stop.run + (stop.step == len(session.plan.steps))
    assert [run for run, _ in told] == [*range(done)]
    assert went.made == done
    if done > stop.run:
        at_end(session, ends, stop.run)


@pytest.mark.parametrize("paused", [True, False])
def test_what_is_cut_off_amid_a_run_can_be_gone_on_with(
    paused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, ends = stepped()
    session, calls, make = DebugSession(program), [0], fast_runs.FastRuns.run

    def cut(runs: fast_runs.FastRuns, feeds: Any, closely: bool) -> fast_runs.Fetched:
        calls[0] += 1
        if calls[0] == 20:
            if paused:
                session.pause()
            raise Cancelled
        return make(runs, feeds, closely)

    monkeypatch.setattr(fast_runs.FastRuns, "run", cut)
    monkeypatch.setattr(fast_runs.Pace, "BLINK", 1e9)
    train(session, 1)
    if paused:
        went, told = train(session, 40)
        assert (went.stop.run, len(told)) == (20, 20)
    else:
        with pytest.raises(Cancelled):
            train(session, 40)
        assert session.timeline.runs == 1
        assign([session], {"w": session.frame().value("w")})  # what follows is made anew
    session.run_to(f"50:{len(session.plan.steps)}")
    at_end(session, ends, 50)
    session.run_to(f"19:{len(session.plan.steps)}")
    at_end(session, ends, 19)


CLOSER = ['norm(update["w:0"])', 'ratio(update["w"], x["w"])', 'norm(grad["w:0"])']


@settings(deadline=None)
@given(seed=st.integers(0, 999), steps=st.integers(1, 40))
@pytest.mark.slow
def test_what_is_seen_closely_is_what_stepping_finds_in_whatever_runs_it_is_seen(
    seed: int, steps: int
) -> None:
    program, ends = stepped()
    session, dice = DebugSession(program), np.random.default_rng(seed)
    told: list[int] = []
    seen: dict[int, Sequence[float]] = {}

    def look(run: int, numbers: Sequence[float]) -> None:
        assert told[-1] == run, "it is told of first"
        seen[run] = numbers

    def begin(budget: LookBudget, run: int, wanted: bool = True) -> bool:
        budget.is_close = bool(dice.random() < 0.4)
        return budget.is_close

    curves, closer = session.curves(['x["loss:0"]']), session.curves(CLOSER)
    tell = {"tell": lambda run, _: told.append(run), "look": look}
    wish = Wish(steps, curves, [LOSS], closer=closer, share=0.5, **tell)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LookBudget, "begin", begin)
        went = session.train(wish)
    assert told == [*range(went.made)]
    assert {0, steps - 1} <= seen.keys(), "recorded runs are seen at any rate"
    for run, (update, ratio, norm) in seen.items():
        before = floats(1, 2, 3) if run == 0 else ends[run - 1]["w"]
        step = np.linalg.norm((ends[run]["w"] - before).astype(np.float64))
        np.testing.assert_allclose(update, step, rtol=1e-12)
        weight = np.linalg.norm(ends[run]["w"].astype(np.float64))
        np.testing.assert_allclose(ratio, step / weight, rtol=1e-12)
        gradient = ends[run]["gradient"].astype(np.float64)
        np.testing.assert_allclose(norm, np.linalg.norm(gradient), rtol=1e-12)
    at_end(session, ends, steps - 1)
    frame = session.frame()
    np.testing.assert_array_equal(
        frame.update("w"),
        ends[steps - 1]["w"] - (ends[steps - 2]["w"] if steps > 1 else floats(1, 2, 3)),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('update["x:0"]', "'x' is no variable, so nothing updates it"),
        ('update["loss"] + 1', "'loss' is no variable"),
        ('norm(update["nowhere"])', "runs do not compute 'nowhere'"),
        ("ratio(1)", "ratio takes two arguments"),
        ("saturated(1, 2)", "saturated takes three arguments"),
    ],
)
def test_what_cannot_be_seen_closely_is_said_before_anything_runs(text: str, says: str) -> None:
    session = DebugSession(stepped()[0])
    with pytest.raises(GradstepError, match=says):
        session.curves([text])


def test_a_breakpoint_may_wait_for_an_update_of_a_size() -> None:
    program, ends = stepped()
    session = DebugSession(program)
    starts = [floats(1, 2, 3), *(end["w"] for end in ends)]
    sizes = [float(np.linalg.norm(b - a)) for a, b in itertools.pairwise(starts)]
    limit = float(np.median(sizes))
    first = next(run for run, size in enumerate(sizes) if size > limit and run > 3)
    condition = f'norm(update["w"]) > {limit!r}'
    session.run_to(f"{first - 1}:{len(session.plan.steps)}")
    session.set_breakpoints([Breakpoint("train", condition=condition)])
    went, _ = train(session, 80)
    assert (went.stop.reason, went.stop.run) == (Reason.BREAKPOINT, first)


def test_looking_takes_no_more_than_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(look_budget, "perf_counter", lambda: now[0])
    share, looked = LookBudget(0.05), 0
    for run in range(100_000):
        close = share.begin(run)
        looked += close
        now[0] += 0.004 if run % 999 == 0 else 0.002 if close else 0.001
        share.read()
        now[0] += 0.002 * close
        share.end()
    assert 0.03 < 0.003 * looked / now[0] < 0.055
    whole = LookBudget(0.05)
    assert all(_looks(whole, run, now) for run in range(80)), "a short training is seen whole"
    assert not all(_looks(whole, run, now) for run in range(300)), "that is over some time"
    assert not any(_looks(LookBudget(0.0), run, now) for run in range(10))


def _looks(share: LookBudget, run: int, now: list[float]) -> bool:
    close = share.begin(run)
    now[0] += 0.001
    share.read()
    now[0] += 0.002 * close
    share.end()
    return close


def test_it_ends_once_the_loss_has_not_become_less_for_some_runs() -> None:
    program, ends = stepped()
    session = DebugSession(program)
    losses = [float(end["loss"]) for end in ends]
    patience = 4
    last = next(run for run in range(MOST) if run - int(np.argmin(losses[: run + 1])) >= patience)
    went = session.train(Wish(80, session.curves(), [LOSS], patience=patience))
    assert "no less loss in 4 steps" in went.ended
    assert went.made == last + 1
    at_end(session, ends, last)


@settings(max_examples=share(25), deadline=None)
@given(
    run_takes=st.floats(1e-6, 0.1), runs=st.integers(2, 300), kept=st.sampled_from([4, 30, 1 << 20])
)
@pytest.mark.slow
def test_few_runs_are_repeated_on_the_way_to_any(run_takes: float, runs: int, kept: int) -> None:
    """However long a run takes and however many were made: as many as fit into four blinks, or as
    memory has starts for."""
    program = noisy()
    size = sum(program.initial[name].nbytes for name in ("w", "w/Adam", "w/Adam_1"))
    limit = 4 * kept * (size + 16)  # a quarter of it is for starts; 16: counters
    session, now = DebugSession(program, limit_bytes=limit), [0.0]

    def tell(run: int, numbers: Sequence[float]) -> None:
        now[0] += run_takes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_runs, "perf_counter", lambda: now[0])
        session.train(Wish(runs, session.curves([]), tell=tell))
    timeline = session.timeline
    starts = [*timeline.starts.runs, runs]
    farthest = max(b - a for a, b in itertools.pairwise(starts))
    by_time = 4 * fast_runs.Pace.BLINK / run_takes
    assert farthest <= max(by_time + 1, 4 * runs / kept, 2)
    repeated: list[int] = []
    original = timeline._repeat

    def counting(run: int, variables: Any) -> Any:
        repeated.append(run)
        return original(run, variables)

    timeline._repeat = counting  # type: ignore[method-assign]
    timeline._kept.clear()
    session.run_to(f"{runs // 2}:{len(session.plan.steps)}")
    assert len(repeated) <= farthest + 1
