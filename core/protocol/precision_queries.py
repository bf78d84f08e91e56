"""What is asked and answered of other number formats.

Part of the messages; see messages.py.
"""

from __future__ import annotations

import msgspec

from gradstep.core.number_format_names import FormatName
from gradstep.core.protocol.message_base import Question, Reply
from gradstep.core.protocol.vocabulary import PhaseName


class ExaminePrecision(Question, frozen=True, kw_only=True):
    """What does this number format do to a result, with the variables as they are when the newest
    run starts? Replied to with PrecisionExamined. target: a tensor, or grad["w"] for a gradient;
    "" for what is differentiated, or fetched first. scopes: what may be in the format; none for
    all. steps: of training with and without what is proposed; 0 for none."""

    format: FormatName
    target: str = ""
    scopes: list[str] = []
    steps: int = 0


class PrecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """ops: that follow each other, the first one of this type and phase. share: of the error;
    all add up to 1. kept: whether the first has to stay in float32."""

    ops: list[str]
    type: str
    phase: PhaseName
    share: float
    kept: bool = False


class PrecisionExamined(Reply, frozen=True, kw_only=True):
    """sentences: what comes of it, the first how large the error is. rows: those with the largest
    shares first. kept: what has to stay in float32, with what overflows."""

    format: FormatName
    sentences: list[str]
    rows: list[PrecisionRow] = []
    kept: list[str] = []
