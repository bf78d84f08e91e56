"""What the window asks about a step of training: what made it different, and which rows did.

Part of the messages; see messages.py. A number that is NaN or infinite is None.
"""

from __future__ import annotations

import msgspec

from gradstep.core.protocol.message_base import Question, Reply


class CompareStep(Question, frozen=True, kw_only=True):
    """What is different in a run, against the `before` ones before it? Nothing of the session's
    changes. Replied to with StepCompared."""

    run: int
    before: int = 8


class NumberChange(msgspec.Struct, frozen=True, kw_only=True):
    """before: the median of the runs before; None where there are none."""

    before: float | None
    here: float | None


class LayerChange(msgspec.Struct, frozen=True, kw_only=True):
    """gradient: its norm; update: the norm of what the run changed, by that of the variable."""

    variable: str
    gradient: NumberChange
    update: NumberChange


class StepCompared(Reply, frozen=True, kw_only=True):
    """first: the first of the runs before. loss: what is minimized; gradient: its norm over all
    variables; layers: the one first whose update grew most."""

    run: int
    first: int
    loss: NumberChange
    gradient: NumberChange
    layers: list[LayerChange]


class WeighRows(Question, frozen=True, kw_only=True):
    """Which rows of its batch make most of a run's gradient? Nothing of the session's changes.
    Replied to with RowsWeighed. seconds: about how long rows are looked at one by one; limit: at
    most so many are told of."""

    run: int
    seconds: float = 0.5
    limit: int = 16


class RowWeight(msgspec.Struct, frozen=True, kw_only=True):
    """row: its number in the data, from 0; place: in the batch. loss, norm: of a step that is fed
    this row alone. share: of the batch's gradient; None where that cannot be told. cells: by
    columns, in a few words."""

    row: int
    place: int
    loss: float | None
    norm: float | None
    share: float | None
    cells: list[str]


class RowsWeighed(Reply, frozen=True, kw_only=True):
    """size: rows of the batch, 0 where there is no data; looked: at how many, one by one. rows: the
    first are those whose gradient is not finite, then by share, or else by norm. others: the mean
    loss of those looked at without the first. adds_up: whether the gradients of rows make that of
    the batch; gap: how far they are from it, by its norm, None for NaN. columns: whose cells there
    are."""

    run: int
    size: int = 0
    looked: int = 0
    rows: list[RowWeight] = []
    others: float | None = None
    adds_up: bool = False
    gap: float | None = None
    columns: list[str] = []


class LeaveOut(Question, frozen=True, kw_only=True):
    """What would a run be without these rows, by their places in the batch? Nothing of the
    session's changes. Replied to with LeftOut."""

    run: int
    places: list[int]


class StepOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """next_loss: of the run behind it."""

    loss: float | None
    norm: float | None
    next_loss: float | None


class LeftOut(Reply, frozen=True, kw_only=True):
    """real: the run as it is."""

    run: int
    places: list[int]
    real: StepOutcome
    without: StepOutcome
