"""Answering Diagnose: what the lints find in a document and in the runs of a session of it."""

from __future__ import annotations

from collections.abc import Collection

from gradstep.core.checks.doctor.diagnosis import diagnose
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Diagnosis
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.protocol.messages import Diagnosed, LintFinding


def diagnosed(document: Document, session: DebugSession, off: Collection[str]) -> Diagnosed:
    """Of the whole document, and of the runs that are finished."""
    found = diagnose(Examined(document, session.program, session), off)
    return Diagnosed(findings=[_row(each) for each in found])


def _row(each: Diagnosis) -> LintFinding:
    lint, finding, remedy = each.lint, each.finding, each.finding.remedy
    return LintFinding(
        code=lint.code,
        title=lint.subject.title,
        node=finding.node,
        text=finding.text,
        fix=finding.fix,
        severity=finding.severity,
        example=lint.subject.example,
        remedy="" if remedy is None else remedy.kind,
        names=[] if remedy is None else [*remedy.names],
    )
