"""Watches: expressions as of where the debugger stands, and what they were at the end of runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.expression import Scope, parse
from gradstep.core.debug.breaks.expression_names import find_mentions
from gradstep.core.debug.breaks.layer_measures import norm
from gradstep.core.debug.breaks.looked_values import LookedValues
from gradstep.core.debug.history.program_tensors import find_tensor
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """value: a NumPy array or scalar, a bool or a tuple; None where something in it has not been
    computed. numbers: what it was at the end of each earlier run that is recorded, up to the last
    few, and what it is now; its norm where it is several numbers; None where it was not computed.
    error: why there is no value."""

    text: str
    value: Any = None
    numbers: tuple[float | None, ...] = ()
    error: GradstepError | None = None


def watch(
    session: DebugSession, texts: Iterable[str], most: int, until: float = np.inf
) -> Iterator[Watched]:
    """What each is where the session stands. most: how many runs it looks back; it looks at none
    any more once it is `until` (of time.monotonic)."""
    for text in texts:
        try:
            value = _evaluate(session, text)
        except GradstepError as error:
            yield Watched(text, error=error)
            continue
        before = _numbers_before(session, text, most, until)
        yield Watched(text, value, (*before, _number(value)))


def _evaluate(session: DebugSession, text: str) -> Any:
    expression, failed = parse(text), None
    try:
        value = expression.evaluate(Scope(LookedValues(session.view())))
    except GradstepError as error:
        value, failed = None, error
    if value is not None:  # what is looked at lies where the debugger goes on
        return value.copy() if isinstance(value, np.ndarray) else value
    mentions = find_mentions(text)
    for _, ref in mentions:
        find_tensor(session.program, ref.short)  # says of a name what is wrong with it
    if failed is not None:
        raise failed
    if not (mentions or expression.recorded):
        raise GradstepError(
            f"'{text}' does not say of which tensor",
            kind="ExpressionError",
            hint='a watch names tensors: x["loss:0"], grad["w:0"]',
        )
    return value


def _numbers_before(
    session: DebugSession, text: str, most: int, until: float
) -> tuple[float | None, ...]:
    """Of the newest runs, as far as there is time for them; in their order."""
    expression, found = parse(text), list[float | None]()
    runs = [run for run in session.timeline.recorded_runs if run < session.stop.run]
    for run in reversed(runs[-most:] if most else []):
        if time.monotonic() >= until:
            break
        try:
            frame = session.frame(run, session.timeline.done(run))
            scope = Scope(LookedValues(frame))
            found.append(_number(expression.evaluate(scope)))
        except GradstepError:  # it fits what is there now, and did not fit that
            found.append(None)
    return tuple(reversed(found))


def _number(value: Any) -> float | None:
    if value is None:
        return None
    array = np.asarray(value)
    kind = kind_of(array.dtype)
    if kind not in "biufc" or not array.size:
        return None
    return float(array.item()) if array.size == 1 and kind != "c" else float(norm(array))
