"""What a lint is, and what it finds: sentences at operations, with an edit that mends them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint_subjects import LintSubject
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.graph.problems import Problem, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """node: operation it stands at, "" for none; text: what is so here, with the numbers of this
    graph, and what comes of it; fix: what to do."""

    node: str
    text: str
    fix: str
    severity: Severity = "warning"
    remedy: Remedy | None = None


Looks = Callable[[Examined], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Lint:
    """looks: at the examined document, in time linear in it."""

    subject: LintSubject
    looks: Looks

    @property
    def code(self) -> str:
        return self.subject.code


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one lint found at one place."""

    lint: Lint
    finding: Finding

    @property
    def problem(self) -> Problem:
        found = self.finding
        return Problem(found.node, self.lint.code, found.text, found.fix, found.severity)
