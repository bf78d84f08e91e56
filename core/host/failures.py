"""Errors on the wire: a GradstepError as a record, and back."""

from __future__ import annotations

from core.errors import GradstepError
from core.graph.problems import Problem
from core.host.messages import ErrorInfo, ProblemInfo


def info_of(error: GradstepError) -> ErrorInfo:
    """`error` as a record that can be sent, and shown as JSON."""
    return ErrorInfo(
        type=error.kind,
        message=error.message,
        node=error.node,
        index=None if error.index is None else list(error.index),
        hint=error.hint,
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


def unexpected(error: BaseException) -> ErrorInfo:
    """A bug in Gradstep, said in one line; its traceback goes to the log."""
    return ErrorInfo(
        type="InternalError",
        message=f"{type(error).__name__}: {error}",
        hint="this is a bug in Gradstep; the log has the details",
    )
