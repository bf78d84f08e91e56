"""What a number format does to the program that is open, as messages."""

from __future__ import annotations

import math

import numpy as np

from gradstep.core.checks.precision.error_shares import Share
from gradstep.core.checks.precision.precision_report import Question, examine
from gradstep.core.checks.precision.precision_words import advice, headline, overflowing
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import Graph
from gradstep.core.protocol import messages as m


def examine_precision(session: DebugSession, request: m.ExaminePrecision) -> m.PrecisionExamined:
    """Raises GradstepError."""
    program = session.program
    question = Question(request.format, request.target, tuple(request.scopes), steps=request.steps)
    on_host = session.backend.xp is np  # else as before run 0
    found = examine(program, question, session.timeline.start if on_host else None)
    said = (headline(found), overflowing(found), *advice(found))
    kept = [*found.overflows, *found.kept]
    return m.PrecisionExamined(
        format=request.format,
        sentences=[sentence for sentence in said if sentence],
        rows=[_row(one, program.graph, kept) for one in found.shares if math.isfinite(one.share)],
        kept=kept,
    )


def _row(one: Share, graph: Graph, kept: list[str]) -> m.PrecisionRow:
    first = graph[one.names[0]]
    return m.PrecisionRow(
        ops=[*one.names],
        type=first.type,
        phase=first.phase.value,
        share=one.share,
        kept=first.name in kept,
    )
