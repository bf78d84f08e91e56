"""The lints of a check: over the graph, and over its first runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from gradstep.core.checks.doctor.diagnosis import diagnose
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint_table import BY_CODE, LINTS
from gradstep.core.cli.output.command_output import usage
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.engine.backend import Backend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.problems import Problem
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.program.runnable_part import drop_unfinished

_ALL = "all"


def find_lints(
    args: argparse.Namespace, document: Document, program: Program, backend: Callable[[], Backend]
) -> list[Problem]:
    """What they find, but those of `--without`; numbers are looked at in the first `--lint-runs`
    runs, as far as these can be made. Raises GradstepError (UsageError) for a lint that there is
    not."""
    off = _left_out(args.without)
    looking = any(lint.subject.of_runs and lint.code not in off for lint in LINTS)
    session = _recorded(program, backend, args.lint_runs) if looking else None
    return [each.problem for each in diagnose(Examined(document, program, session), off)]


def _left_out(given: list[str]) -> set[str]:
    for code in given:
        if code not in BY_CODE and code != _ALL:
            hint = did_you_mean(near(code, BY_CODE)) or f"one of {', '.join(BY_CODE)}, or {_ALL}"
            raise usage(f"--without: there is no lint '{code}'", hint)
    return {*BY_CODE} if _ALL in given else {*given}


def _recorded(program: Program, backend: Callable[[], Backend], runs: int) -> DebugSession | None:
    """A session that has made so many runs; None where it cannot begin. What keeps it from that is
    a problem of its own."""
    try:
        session = DebugSession(drop_unfinished(program), backend())
        for _ in range(runs):
            if session.command("continue_").reason != "end":
                break
    except GradstepError:
        return None
    return session
