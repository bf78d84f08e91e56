"""What a classifier of two inputs says of each point of the plane around its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.row_judgement import session_at
from gradstep.core.host.row_supply import Rows
from gradstep.core.program.classifier import Classifier
from gradstep.core.protocol.class_queries import SurfaceDrawn

SIDE = 64  # points across, and down
INTERVAL = 0.25  # seconds from one drawing to the next, at least
SHARE = 0.03  # of the time, at most, that is spent on drawing while a network is trained
_MARGIN = 0.1  # of the rows' extent, around them
_MOST_ROWS = 1 << 14  # that are looked at for their extent


def input_of(
    session: DebugSession, classifier: Classifier, rows: Rows
) -> tuple[TensorRef, bool] | None:
    """What the network is fed a row of: the first of the data that its output comes from; and
    whether that is two numbers and nothing else. None where nothing of the data gets there."""
    names = session.program.graph.ancestors([classifier.logits.op])
    found = [ref for ref in rows.refs if ref.op in names]
    if not found:
        return None
    row = rows.take(found[0], rows.first(1))
    return found[0], len(found) == 1 and row.shape == (1, 2) and kind_of(row.dtype) == "f"


class Surface:
    """A grid of inputs, fed to the network beside the debugger. `fed`: the tensor that takes two
    numbers of a row."""

    def __init__(
        self, session: DebugSession, classifier: Classifier, rows: Rows, fed: TensorRef
    ) -> None:
        self._session: Session = session_at(session, [classifier.logits])
        self._classifier = classifier
        points = rows.take(fed, rows.first(_MOST_ROWS))
        self.bounds = _bounds(points)
        x0, x1, y0, y1 = self.bounds
        x, y = np.linspace(x0, x1, SIDE), np.linspace(y1, y0, SIDE)  # the top is up
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        self._feeds = {**rows.feeds, fed: grid.astype(points.dtype)}

    def draw(self, run: int, variables: Mapping[str, Any] | None = None) -> SurfaceDrawn:
        """What the network says, at these values of the variables (device arrays), or as they were
        where the debugger stood. Raises GradstepError."""
        for name, array in (variables or {}).items():
            self._session.store.set(name, array)
        (logits,) = self._session.values([self._classifier.logits], self._feeds)
        if logits is None or np.asarray(logits).shape[:1] != (SIDE * SIDE,):
            raise GradstepError("the output has no row for each row of the input")
        classes, sure = certainty(np.asarray(logits, np.float64).reshape(SIDE * SIDE, -1))
        return SurfaceDrawn(
            run=run,
            side=SIDE,
            bounds=[*self.bounds],
            classes=classes.astype(np.uint8).tobytes(),
            sure=np.round(255 * sure).astype(np.uint8).tobytes(),
        )


class SurfaceArtist:
    """Draws the surface while training goes on, `tell` gets it: a few times a second, and in no
    more than a share of the time."""

    def __init__(self, surface: Surface, tell: Callable[[SurfaceDrawn], None]) -> None:
        self._surface, self._tell = surface, tell
        self._due = 0.0

    def note(self, run: int, variables: Callable[[], Mapping[str, Any]]) -> None:
        """A run is over, and left the variables like this."""
        began = perf_counter()
        if began < self._due:
            return
        try:
            self._tell(self._surface.draw(run, variables()))
            now = perf_counter()
            self._due = now + max(INTERVAL, (now - began) * (1 / SHARE - 1))
        except GradstepError:  # it is said when the panel asks for it
            self._due = np.inf


def certainty(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class of each row of float64 [rows, classes], or [rows, 1] for two of them, and its
    probability, from 0 to 1; 0 where that is no number."""
    if logits.shape[1] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    with np.errstate(all="ignore"):
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        share = (powers / powers.sum(axis=1, keepdims=True)).max(axis=1)
    return logits.argmax(axis=1), np.nan_to_num(share)


def _bounds(points: np.ndarray) -> tuple[float, float, float, float]:
    """Left, right, bottom and top: around what is finite, and as long as wide."""
    finite = points[np.isfinite(points).all(axis=1)].astype(np.float64)
    if not len(finite):
        finite = np.zeros((1, 2))
    low, high = finite.min(axis=0), finite.max(axis=0)
    middle, half = (low + high) / 2, max(float((high - low).max()) / 2, 1e-6) * (1 + _MARGIN)
    (x, y) = middle.tolist()
    return x - half, x + half, y - half, y + half
