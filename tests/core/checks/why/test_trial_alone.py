"""A trial names what running the step again and again, on halves of its operands, names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.checks.why import element_sources, operand_trial
from gradstep.core.checks.why.operand_trial import Trial
from gradstep.core.checks.why.step_on_other_inputs import Again, Masks
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import OpDef, Sample, all_ops
from tests.support.op_cases import make
from tests.support.plain_trial import PlainTrial

LARGEST = 60  # elements of an operand
LONG = 1e9  # seconds: the answer must not hang on how quick this machine is


@dataclass(frozen=True)
class Tried:
    again: Again
    step: Step
    inputs: list[Any]
    bad: Masks
    asked: Masks
    wrong: Callable[[np.ndarray], np.ndarray]

    def found(self, kind: Any) -> tuple[list[Any], list[Any]]:
        trial = kind(self.again, self.step, self.inputs, self.bad, self.asked, self.wrong)
        return _told(trial.own), _told(trial.mattering())


def _told(masks: Masks) -> list[Any]:
    return [(k, mask.astype(int).tolist()) for k, mask in sorted(masks.items())]


def _tells(definition: OpDef) -> bool:
    """Whether it is known where its results' elements come from: others are tried by runs alone."""
    memory = definition.memory
    moves = memory.keeps_bytes or memory.slices or memory.pieces is not None
    return moves or definition.type in element_sources._REACH


# Of flags, of whole numbers in all samples, of state, or never run again.
UNTRIED = {"LoopCond", "BatchMatMulV3", "ReadVariableOp", "Switch", "RefSwitch"}
TELLING = sorted(each.type for each in all_ops() if _tells(each))


@cache
def choices(telling: bool) -> tuple[tuple[OpDef, int], ...]:
    found = (each for each in all_ops() if _tells(each) is telling)
    return tuple(
        (definition, number)
        for definition in found
        if definition.samples is not None and definition.kernel.plain is not None
        for number, sample in enumerate(definition.samples(np.random.default_rng(7)))
        if _fits(sample)
    )


def _fits(sample: Sample) -> bool:
    arrays = [np.asarray(x) for x in sample.inputs]
    return any(x.dtype.kind in "fc" for x in arrays) and all(x.size <= LARGEST for x in arrays)


@cache
def session_of(definition: OpDef, number: int) -> tuple[DebugSession, list[Any]]:
    assert definition.samples is not None
    sample = [*definition.samples(np.random.default_rng(7))][number]
    case = make(definition, sample, np.float32)
    feeds = {TensorRef.parse(str(name)): x for name, x in case.feeds.items()}
    return DebugSession(
        Program(case.graph, case.graph, fetches=tuple(case.outputs), feeds=feeds)
    ), case.inputs


def tried(definition: OpDef, number: int, seed: int) -> Tried | None:
    """The step on its sample with some odd numbers; None where nothing is wrong then."""
    session, inputs = session_of(definition, number)
    place, again = session.plan.step_of.get("it"), Again(session)
    if place is None:
        return None
    step = session.plan.steps[place]
    if not again.can_run(step) or len(step.reads) != len(inputs):
        return None
    random = np.random.default_rng(seed)
    wrong = [np.isnan, np.isinf][random.integers(2)]
    odd = [[np.nan], [np.nan, 0], [np.nan, np.inf, 0], [np.nan, np.inf, -np.inf, 0]]
    odd, share = odd[random.integers(4)], random.choice([0.1, 0.4, 1.0])
    inputs = [_with_odd(random, x, odd, share) for x in inputs]
    results = again.run(step, inputs)
    if results is None:
        return None
    bad = {k: wrong(x) for k, x in enumerate(inputs) if kind_of(x.dtype) in "fc" and wrong(x).any()}
    asked = {
        k: wrong(x) & (random.random(x.shape) < 0.7)
        for k, x in enumerate(results)
        if kind_of(x.dtype) in "fc"
    }
    asked = {k: m for k, m in asked.items() if m.any()}
    return Tried(again, step, inputs, bad, asked, wrong) if bad and asked else None


def _with_odd(
    random: np.random.Generator, x: np.ndarray, odd: list[float], share: float
) -> np.ndarray:
    if x.dtype.kind not in "fc":
        return x
    return np.where(random.random(x.shape) < share, random.choice(odd, x.shape), x).astype(x.dtype)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operand_trial, "_SECONDS", LONG)


@pytest.mark.parametrize("telling", [True, False])
@given(st.data())
def test_what_running_alone_names(telling: bool, data: st.DataObject) -> None:
    which = data.draw(st.sampled_from(choices(telling)))
    seed = data.draw(st.integers(0, 1 << 16))
    cases = filter(None, (tried(*which, seed + more) for more in range(4)))
    for case in cases:
        assert case.found(Trial) == case.found(PlainTrial)


@pytest.mark.parametrize("type", TELLING)
def test_of_each_op_that_tells(type: str) -> None:
    """Some of each, so that none goes untried."""
    whichs = [each for each in choices(True) if each[0].type == type]
    cases = [case for each in whichs for seed in range(12) if (case := tried(*each, seed))]
    assert (len(cases) >= 4) is (type not in UNTRIED)
    for case in cases:
        assert case.found(Trial) == case.found(PlainTrial)


def of_product(a: np.ndarray, b: np.ndarray, wrong: Any) -> Tried:
    """A MatMul of these, of which all is asked for that is wrong."""
    (definition,) = (each for each in all_ops() if each.type == "MatMul")
    session, _ = session_of(definition, 0)
    step, again = session.plan.steps[session.plan.step_of["it"]], Again(session)
    bad = {k: wrong(x) for k, x in enumerate((a, b)) if wrong(x).any()}
    results = again.run(step, [a, b])
    assert results is not None
    return Tried(again, step, [a, b], bad, {0: wrong(results[0])}, wrong)


def test_infinities_of_a_product_are_tried() -> None:
    """They can undo one another: both of the first factor alone make no infinity."""
    a, b = np.full((1, 2), np.inf, np.float32), np.array([[-np.inf], [-1]], np.float32)
    case = of_product(a, b, np.isinf)
    assert case.found(Trial) == case.found(PlainTrial)
    assert case.found(Trial)[1] == [(1, [[1], [0]])]
