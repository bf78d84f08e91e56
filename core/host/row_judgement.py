"""What a classifier says of each row, run beside the debugger, of which nothing is touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic

import numpy as np

from gradstep.core.debug.history.fast_runs import ROUNDING
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.row_supply import Rows
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.program.classifier import Classifier

SECONDS = 0.5  # that rows are looked at, at most: those that are left by then are not counted


@dataclass(frozen=True, eq=False)
class Judgement:
    """Of each row that was looked at: its number, its class, the one that it was taken for (-1
    where the output is not finite), and its loss, float64. known: how many classes there are."""

    rows: np.ndarray
    actual: np.ndarray
    taken: np.ndarray
    losses: np.ndarray
    known: int

    @property
    def matrix(self) -> np.ndarray:
        """Rows by class, down, and by what they were taken for, across; int64. Those with an output
        that is not finite are left out."""
        counts = np.zeros((self.known, self.known), np.int64)
        told = self.taken >= 0
        np.add.at(counts, (self.actual[told], self.taken[told]), 1)
        return counts

    def worst(self, actual: int = -1, taken: int = -1) -> np.ndarray:
        """Places of the rows of these classes, -1 for any, from the largest loss on; NaN first, and
        equal ones by their numbers."""
        asked = (actual < 0) | (self.actual == actual)
        asked &= (taken < 0) | (self.taken == taken)
        places = np.flatnonzero(asked)
        losses = np.where(np.isnan(self.losses), np.inf, self.losses)[places]
        return places[np.lexsort((self.rows[places], -losses))]


def session_at(session: DebugSession, refs: list[TensorRef]) -> Session:
    """A session of its own for the same graph, at the variables that `refs` need as they are where
    the debugger stands. Raises GradstepError."""
    program: Program = session.program
    frame, graph = session.frame(), program.graph
    values = {
        name: value
        for name in graph.ancestors(ref.op for ref in refs)
        if graph[name].type in VARIABLES
        and (value := frame.value(graph[name].output())) is not None
    }
    return Session(graph, session.backend, program.functions, values, True, ROUNDING)


def judge(session: DebugSession, classifier: Classifier, rows: Rows) -> Judgement:
    """What the classifier says of as many rows as there is time for. Raises GradstepError."""
    refs = [classifier.logits, classifier.labels, classifier.losses]
    beside, until = session_at(session, refs), monotonic() + SECONDS
    found: list[tuple[np.ndarray, ...]] = []
    for feeds, numbers in rows.chunks():
        values = beside.values(refs, {**rows.feeds, **feeds})
        found.append((numbers, *_told(classifier, values, len(numbers))))
        if monotonic() > until:
            break
    numbers, actual, taken, losses, known = (np.concatenate(c) for c in zip(*found, strict=True))
    return Judgement(numbers, actual, taken, losses, max(int(known.max()), int(actual.max()) + 1))


def _told(
    classifier: Classifier, values: list[np.ndarray | None], count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Class, what it was taken for, and loss of each row; how many classes there are."""
    logits, labels, losses = (None if v is None else np.asarray(v) for v in values)
    if logits is None or labels is None or losses is None:
        raise _untold(f"'{classifier.losses.short}' is not computed: it lies in a branch not taken")
    if losses.size != count:
        raise _untold(
            f"'{classifier.losses.short}' is not one loss for each of {count:,} rows, but "
            f"{losses.size:,}: the classes of rows cannot be told"
        )
    outputs = logits.reshape(count, -1).astype(np.float64)
    actual, taken = _CLASSES[classifier.kind](labels.reshape(count, -1), outputs)
    taken = np.where(np.isfinite(outputs).all(axis=1), taken, -1)
    known = np.array([max(outputs.shape[1], 2)])
    return actual.astype(np.int64), taken, losses.reshape(-1).astype(np.float64), known


def _largest(labels: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return labels.argmax(axis=1), outputs.argmax(axis=1)


def _numbered(labels: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return labels[:, 0], outputs.argmax(axis=1)


def _of_two(labels: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (labels[:, 0] > 0.5).astype(np.int64), (outputs[:, 0] > 0).astype(np.int64)


_CLASSES: Mapping[str, Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "softmax": _largest,
    "sparse": _numbered,
    "sigmoid": _of_two,
}


def _untold(why: str) -> GradstepError:
    return GradstepError(
        why, kind="FailedPreconditionError", hint="classes are told of a loss for each row"
    )
