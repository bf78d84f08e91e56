"""A run of a session, made again on other rows: a copy, and nothing of the session changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.debug.breaks.layer_curves import Trainable
from gradstep.core.debug.history.fast_runs import ROUNDING
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to

Feeds = Mapping[TensorRef, np.ndarray]


@dataclass(frozen=True, eq=False)
class Slope:
    """loss: the sum of its elements. gradient: of all variables, one behind the other, float64."""

    loss: float
    gradient: np.ndarray

    @property
    def norm(self) -> float:
        return float(np.sqrt(np.dot(self.gradient, self.gradient)))


class RepeatedStep:
    """Run number `run`. feeds: what it was fed; rows: the tensors of these that are rows of data.

    Raises GradstepError where it cannot be repeated by itself: beside other threads, with variables
    that were changed from outside, or without a gradient of anything that is trained."""

    def __init__(self, session: DebugSession, run: int) -> None:
        timeline, program = session.timeline, session.program
        require_alone(session)
        self.run, self._session = run, session
        self.feeds: Feeds = timeline.feeds_at(run)
        self.rows: Sequence[TensorRef] = row_tensors(program)
        self._losses = minimized(program)
        self._gradients = [program.gradients[ref] for ref in trained(session)]
        if not (self._gradients and self._losses):
            raise GradstepError(
                "no gradient of a variable is computed here",
                kind="FailedPreconditionError",
                hint="give the document a loss and an optimizer",
            )
        self._start = timeline.started_from(run)
        self._again = Session(
            program.graph, session.backend, program.functions, fast=True, without=ROUNDING
        )

    @property
    def size(self) -> int:
        """How many rows it was fed; 0 where it was fed none of data."""
        return min((len(self.feeds[ref]) for ref in self.rows), default=0)

    def some(self, places: np.ndarray | slice) -> Feeds:
        """What it was fed, with these rows of the batch alone."""
        return {**self.feeds, **{ref: self.feeds[ref][places] for ref in self.rows}}

    def slope(self, feeds: Feeds) -> Slope:
        """At the variables that it began with; they are not updated. Raises GradstepError."""
        return self._computed(feeds, ())

    def make(self, feeds: Feeds) -> Slope:
        """All of the run: variables are updated, for `loss_next`. Raises GradstepError."""
        plan = self._session.plan
        return self._computed(feeds, [*plan.targets, *(ref.op for ref in plan.fetches)])

    def loss_next(self) -> float:
        """The loss of the run behind it, from where `make` has led. Raises GradstepError."""
        feeds = self._session.timeline.feeds_at(self.run + 1)
        with printing_to(nowhere):
            return _total(self._again.values(self._losses, feeds))

    def _computed(self, feeds: Feeds, targets: Sequence[str]) -> Slope:
        for name, array in self._start.items():
            self._again.store.set(name, array)
        with printing_to(nowhere):
            found = self._again.values([*self._losses, *self._gradients], feeds, targets)
        count = len(self._losses)
        return Slope(_total(found[:count]), _flat(found[count:]))


def require_alone(session: DebugSession) -> None:
    """Raise GradstepError where runs depend on more than what they start from."""
    if not session.timeline.can_skip:
        raise GradstepError(
            "steps beside other threads cannot be repeated by themselves",
            kind="FailedPreconditionError",
            hint="look at a document without threads",
        )


def row_tensors(program: Program) -> Sequence[TensorRef]:
    """What is fed another batch of rows in each run."""
    return () if program.batches is None else [*program.batches.types]


def minimized(program: Program) -> Sequence[TensorRef]:
    """What the gradients are of."""
    return program.derived[0].of if program.derived else program.request.of


def trained(session: DebugSession) -> Sequence[TensorRef]:
    """The variables whose gradients runs compute."""
    gradients, tensors = session.program.gradients, session.plan.tensors
    variables = Trainable(session.program.forward, gradients, ()).variables
    return [ref for ref in variables if gradients[ref] in tensors]


def _total(values: Sequence[np.ndarray | None]) -> float:
    return float(sum(np.sum(value, dtype=np.float64) for value in values if value is not None))


def _flat(values: Sequence[np.ndarray | None]) -> np.ndarray:
    parts = [np.zeros(0)]
    parts += [np.asarray(v, np.float64).reshape(-1) for v in values if v is not None]
    return np.concatenate(parts)
