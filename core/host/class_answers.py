"""Which rows a classifier gets wrong, and as what, for the window to show."""

from __future__ import annotations

from math import isqrt

import numpy as np

from gradstep.core.data.opened_data import OpenedData
from gradstep.core.data.transforms import Classes
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.batch_answers import row_text
from gradstep.core.host.decision_surface import Surface, input_of
from gradstep.core.host.row_judgement import Judgement, judge
from gradstep.core.host.row_supply import Rows, rows_of
from gradstep.core.host.tensors.axis_layout import channel_axis
from gradstep.core.program.classifier import Classifier, classifier_of
from gradstep.core.protocol.class_queries import Classified, Classify, PlacedRow, WorstRow
from gradstep.core.protocol.framing import Buffer

MOST_POINTS = 1000  # rows on the surface
MOST_CLASSES = 48  # of the matrix: those that are confused most
_SQUARES = (64, 784, 1024)  # numbers of a row that is a square image, as data sets have them
_SIDE = 96  # pixels of a picture, at most; of larger ones each n-th is sent


def classify(session: DebugSession, request: Classify) -> tuple[Classified, tuple[Buffer, ...]]:
    """The answer. Raises GradstepError where the program classifies no rows."""
    program = session.program
    classifier = classifier_in(session)
    rows = rows_of(session, request.share)
    found = judge(session, classifier, rows)
    places = found.worst(request.actual, request.taken)
    shown = places[: max(request.worst, 0)]
    fed, is_flat = input_of(session, classifier, rows) or (None, False)
    surface = None
    if fed is not None and is_flat and found.known <= MOST_CLASSES:
        around = rows_of(session, "trained")  # the same plane for all rows
        surface = Surface(session, classifier, around, fed).draw(session.stop.run)
    values = None if fed is None or not len(shown) else rows.take(fed, found.rows[shown])
    pixels = None if values is None else pictures(values)
    cells = [""] * len(shown) if values is None or pixels is not None else [*map(row_text, values)]
    matrix, classes = most_confused(found.matrix)
    reply = Classified(
        share=rows.share,
        counted=len(found.rows),
        total=rows.total,
        right=int(np.count_nonzero(found.actual == found.taken)),
        broken=int(np.count_nonzero(found.taken < 0)),
        loss=float(found.losses.mean()),
        classes=classes.tolist(),
        known=found.known,
        names=_names(program.batches, program.graph.ancestors([classifier.labels.op]), rows),
        matrix=matrix.reshape(-1).tolist(),
        worst=[_worst(found, place, text) for place, text in zip(shown, cells, strict=True)],
        found=len(places),
        surface=surface,
        points=[] if surface is None or fed is None else _placed(found, rows, fed, places),
        input="" if fed is None else str(fed),
        picture=[] if pixels is None else [*pixels.shape[1:]],
    )
    return reply, () if pixels is None else (pixels.tobytes(),)


def classifier_in(session: DebugSession) -> Classifier:
    """What the session's program classifies. Raises GradstepError where that cannot be told."""
    program = session.program
    losses = [ref for one in program.derived for ref in one.of]
    return classifier_of(program.graph, losses or program.request.of or program.fetches)


def surface_of(session: DebugSession) -> Surface | None:
    """Where the session's program classifies rows of two numbers; None where it does not."""
    try:
        classifier, rows = classifier_in(session), rows_of(session, "trained")
        fed, is_flat = input_of(session, classifier, rows) or (None, False)
        return Surface(session, classifier, rows, fed) if fed is not None and is_flat else None
    except GradstepError:
        return None


def _placed(found: Judgement, rows: Rows, fed: TensorRef, places: np.ndarray) -> list[PlacedRow]:
    """Rows to be drawn: those that were asked for, the largest loss first."""
    places = places[:MOST_POINTS]
    table = rows.take(fed, found.rows[places]).astype(np.float64)
    columns = (found.rows[places], *table.T, found.actual[places], found.taken[places])
    return [
        PlacedRow(row=row, x=x, y=y, actual=actual, taken=taken)
        for row, x, y, actual, taken in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _worst(found: Judgement, place: int, text: str) -> WorstRow:
    return WorstRow(
        row=int(found.rows[place]),
        loss=float(found.losses[place]),
        actual=int(found.actual[place]),
        taken=int(found.taken[place]),
        cells=text,
    )


def most_confused(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part of the matrix that can be shown, and the classes that it is of."""
    wrong = matrix.sum(axis=0) + matrix.sum(axis=1) - 2 * matrix.diagonal()
    classes = np.sort(np.argsort(-wrong, kind="stable")[:MOST_CLASSES])
    return matrix[np.ix_(classes, classes)], classes


def _names(data: object, behind: set[str], rows: Rows) -> list[str]:
    """What the classes are called in the data; none where they are numbers there."""
    if not isinstance(data, OpenedData):
        return []
    columns = (data.training.columns[ref] for ref in rows.refs if ref.op in behind)
    steps = (step for column in columns for step in column.transforms)
    return next(([*step.names] for step in steps if isinstance(step, Classes)), [])


def pictures(values: np.ndarray) -> np.ndarray | None:
    """Rows as images, uint8 [rows, height, width, channels], with the whole range of what they
    hold; None for rows of numbers, as are a square number of them that is below zero somewhere."""
    if kind_of(values.dtype) not in "fiub" or not values.size:
        return None
    if values.ndim == 2 and values.shape[1] in _SQUARES and np.nanmin(values) >= 0:
        side = isqrt(values.shape[1])
        values = values.reshape(-1, side, side, 1)
    elif values.ndim == 3 and min(values.shape[1:]) > 3:
        values = values[..., None]
    elif values.ndim != 4 or (axis := channel_axis(values.shape)) < 0:
        return None
    else:
        values = np.moveaxis(values, axis, 3)
    step = -(-max(values.shape[1:3]) // _SIDE)
    return _as_pixels(values[:, ::step, ::step, :3].astype(np.float64))


def _as_pixels(values: np.ndarray) -> np.ndarray:
    values = np.nan_to_num(values)
    low, high = min(values.min(), 0.0), values.max()
    scaled = (values - low) * (255.0 / max(high - low, 1e-30))
    return np.ascontiguousarray(scaled.round().astype(np.uint8))
