"""Candidate samplers draw the classes that TensorFlow draws, in one run after the other."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.random_streams import seeded
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.numerics import candidate_draws
from tests.support import tensorflow_graphs

NAMES = [name for name in tensorflow_graphs.names() if name.startswith("sampler_")]


@pytest.mark.parametrize("name", NAMES)
def test_classes_are_tensorflows_in_every_run(name: str) -> None:
    session = Session(tensorflow_graphs.document(name).graph)
    for step in tensorflow_graphs.steps(name):
        found = session.run([*step.fetches], step.feeds)
        for (ref, wanted), got in zip(step.fetches.items(), found, strict=True):
            if wanted.dtype == np.int64:
                np.testing.assert_array_equal(got, wanted, err_msg=ref)
            else:
                np.testing.assert_allclose(got, wanted, rtol=2e-7, err_msg=ref)


def _learned(range_max: int = 10) -> Graph:
    builder = GraphBuilder()
    classes = builder.placeholder("classes", "int64", [None, 1])
    builder.op(
        "LearnedUnigramCandidateSampler",
        classes,
        name="drawn",
        num_true=1,
        num_sampled=3,
        unique=False,
        range_max=range_max,
        seed=1,
        seed2=2,
    )
    return builder.build()


def test_what_was_learned_is_forgotten_by_a_step_back() -> None:
    """Each run has what the runs before it taught, and has it again when one steps back to it; a
    seed draws others, by the same weights."""
    graph = _learned()
    feeds = {TensorRef("classes"): np.array([[4], [4], [7]], np.int64)}
    fetches = (TensorRef("drawn"), TensorRef("drawn", 1))
    session = DebugSession(Program(graph=graph, forward=graph, fetches=fetches, feeds=feeds))

    def expected(run: int) -> list[float]:
        counts = session.frame(run, session.timeline.length).value("drawn:1")
        return [round(float(x), 6) for x in np.ravel(counts)]

    for _ in range(3):
        session.continue_()
    length = len(session.plan.steps)
    wanted = [[0.3, 0.3, 0.3], [round(9 / 13, 6)] * 2 + [round(6 / 13, 6)]]
    assert [expected(0), expected(1)] == wanted
    session.run_to(f"1:{length - 1}")
    session.inject(seeded(session, 7))
    session.continue_()
    assert [expected(0), expected(1)] == wanted


@pytest.mark.parametrize(
    ("attrs", "said"),
    [
        ({"vocab_file": "words.csv"}, "it draws by the file 'words.csv', which is not read here"),
        ({"unigrams": (1.0, 2.0)}, "range is 3 must be equal to weights size 2"),
        (
            {"unigrams": (1.0,), "num_reserved_ids": 2, "unique": True},
            "2 different classes cannot be drawn: 1 have a weight above 0",
        ),
        (
            {"num_reserved_ids": (1 << 31) - 1},
            "range is 3 must be equal to weights size 2147483647",
        ),
    ],
)
def test_a_range_that_does_not_fit_is_refused(attrs: dict[str, object], said: str) -> None:
    builder = GraphBuilder()
    classes = builder.constant(np.zeros((1, 1), np.int64))
    more = {"num_true": 1, "num_sampled": 2, "unique": False, "range_max": 3}
    with pytest.raises(GradstepError, match=said):
        builder.op("FixedUnigramCandidateSampler", classes, **{**more, **attrs})


def test_a_class_that_there_is_not_is_refused() -> None:
    with pytest.raises(GradstepError, match=r"out of range \[0, 10\), received 10"):
        Session(_learned()).run(["drawn:0"], {"classes": np.array([[3], [10]], np.int64)})


def test_draws_that_find_no_more_classes_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_draws, "_MOST_TRIES", 1000)
    sampler = candidate_draws.FixedUnigramSampler(np.array([1, 1e-30], np.float32))
    with pytest.raises(GradstepError, match="1000 draws gave 1 different classes where 2"):
        candidate_draws.draw_classes(sampler, (1, 2), 0, 2, unique=True)


def test_a_learned_sampler_counts_no_more_than_there_is_memory_for() -> None:
    builder = GraphBuilder()
    classes = builder.constant(np.zeros((1, 1), np.int64))
    more = {"num_true": 1, "num_sampled": 2, "unique": False, "range_max": (1 << 31) - 2}
    with pytest.raises(GradstepError, match="at most 134217728 classes are counted"):
        builder.op("LearnedUnigramCandidateSampler", classes, **more)
