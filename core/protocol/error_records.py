"""Errors on the wire: a GradstepError as a record, and back."""

from __future__ import annotations

from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.problems import Problem
from gradstep.core.protocol.messages import ErrorInfo, ProblemInfo
from gradstep.core.visible_text import writable


def info_of(error: GradstepError) -> ErrorInfo:
    """`error` as a record that can be sent, and shown as JSON."""
    return ErrorInfo(
        type=error.kind,
        message=writable(error.message),  # which may be words of the user's Python
        node=error.node,
        index=None if error.index is None else list(error.index),
        hint=writable(error.hint),
    )


def info_of_problem(problem: Problem) -> ProblemInfo:
    """A problem found in the graph, as the same kind of record; its code is the type."""
    return ProblemInfo(
        type=problem.code,
        message=problem.text,
        node=problem.node or None,
        hint=problem.fix,
        severity=problem.severity,
    )


def error_of(info: ErrorInfo) -> GradstepError:
    """The error that `info` was made from."""
    return GradstepError(
        info.message,
        kind=info.type,
        node=info.node,
        index=None if info.index is None else tuple(info.index),
        hint=info.hint,
    )


def unexpected_error(error: BaseException) -> ErrorInfo:
    """What nobody foresaw while the engine answered a request; Python's words go to the log."""
    return info_of(unforeseen("the engine could not answer", error))
