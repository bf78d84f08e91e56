"""What a check of a document comes to: whether it passes, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.checks.gradients.gradient_sentences import (
    EXPECTED,
    clauses,
    lost_clause,
    sentence,
)
from gradstep.core.debug.breaks.expression_names import find_mentions, names_a_tensor
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.graph.problems import RECORDED_GRADIENT, Problem, Severity
from gradstep.core.protocol.messages import CheckedExpectation, GradientRow, GradientTable, LostLoss

_SETTLED = (ExpectationKind.EQUALS, ExpectationKind.NONE)  # say what a gradient is
_SEVERITIES = {"error": "error", "warning": "warning", "info": "remark"}


@dataclass(frozen=True)
class Known:
    """What a document says of its first run as it stands, and holds there. gradients: tensors whose
    gradient it gives; failures: how that run fails."""

    gradients: frozenset[str] = frozenset()
    failures: tuple[Expectation, ...] = ()

    @classmethod
    def of(cls, said: Sequence[Expectation], checked: Sequence[CheckedExpectation]) -> Known:
        """checked: what came of each of `said`."""
        pairs = zip(said, checked, strict=True)
        held = [e for e, c in pairs if c.ok and e.run == 0 and e.when == Variation()]
        exact = [e.what for e in held if e.kind in _SETTLED and names_a_tensor(e.what)]
        mentions = (find_mentions(what)[0] for what in exact)
        return cls(
            frozenset(ref.short for kind, ref in mentions if kind == "grad"),
            tuple(e for e in held if e.kind is ExpectationKind.FAILS),
        )

    def failing(self, problem: Problem) -> bool:
        """Whether the problem is how the run is to fail."""
        return any(
            e.what in ("", problem.node) and e.message in problem.text for e in self.failures
        )


@dataclass(frozen=True)
class Conclusion:
    """problems: those that were given and those of the gradients; what the document expects is no
    error. text: one sentence, which begins with "passed", "failed" or "nothing to check"."""

    passed: bool
    text: str
    problems: tuple[Problem, ...]


def conclusion(
    problems: Iterable[Problem],
    table: GradientTable | None,
    expectations: Sequence[CheckedExpectation] = (),
    known: Known = Known(),
) -> Conclusion:
    """Everything of it follows from these rows."""
    found = list(problems)
    given = [_expected(problem, known) for problem in found]
    doubts = [] if table is None else [*_doubts(table, known)]
    failed = any(p.severity == "error" for p in (*given, *doubts))
    passed = not failed and all(e.ok for e in expectations)
    gradients = (
        () if table is None else clauses(table.rows, table.nodes, table.second, known.gradients)
    )
    unchanged = [new for new, old in zip(given, found, strict=True) if new is old]
    failing = [f"it fails{EXPECTED}"] if len(unchanged) < len(found) else []
    lost = () if table is None else table.lost
    parts = [
        *(f"{lost_clause(x)}{EXPECTED if _is_expected(x, known) else ''}" for x in lost),
        *gradients,
        *_others(unchanged, known),
        *_counts(unchanged),
        *failing,
        *_held(expectations),
    ]
    said = "; ".join(parts)
    if passed and table is None and not expectations:
        text = "; ".join(["nothing to check: no gradients are asked for (--of)", *parts])
    else:
        text = f"{'passed' if passed else 'failed'}: {said or 'no problems'}"
    return Conclusion(passed, text, (*given, *doubts))


def _expected(problem: Problem, known: Known) -> Problem:
    if problem.severity != "error" or not known.failing(problem):
        return problem
    return replace(problem, severity="info", text=f"{problem.text}{EXPECTED}", fix="")


def _doubts(table: GradientTable, known: Known) -> Iterator[Problem]:
    """Gradients that the numbers do not support, at the nodes that make them; a warning where
    what was asked for is right all the same, and not only as small as it is, or expected."""
    for lost in table.lost:
        if not _is_expected(lost, known):
            fix = "gradstep why says how that comes, and what helps"
            yield Problem(lost.node, "gradient-check", lost_clause(lost), fix)
    if beyond := [row for row in table.rows if row.text and _is_beyond(row)]:
        names = ", ".join(dict.fromkeys(row.name for row in beyond))
        text = f"not finite, though right in float64: the gradient of {names}"
        yield Problem("", "gradient-check", text, "gradstep why says where that begins")
    wrong = [row.name for row in table.rows if row.verdict == Verdict.WRONG.value]
    unexpected = any(name not in known.gradients for name in wrong)
    blamed = False
    for node in table.nodes:
        if node.verdict == Verdict.WRONG.value:
            harmless = bool(table.rows) and (node.agrees or not (unexpected or node.unseen))
            blamed = blamed or not harmless
            severity: Severity = "warning" if harmless else "error"
            yield Problem(node.node, "gradient-check", node.text, node.fix, severity)
    twice = any(tensor.verdict == Verdict.WRONG.value for tensor in table.second)
    if (unexpected and not blamed) or twice:
        severity = "error" if unexpected or not wrong else "warning"
        found = clauses(table.rows, table.nodes, table.second, known.gradients)
        yield Problem("", "gradient-check", " ".join(map(sentence, found)), severity=severity)


def _is_expected(lost: LostLoss, known: Known) -> bool:
    """Whether the document says what its gradients are, which is NaN as well."""
    return known.gradients.issuperset(lost.wrt)


def _is_beyond(row: GradientRow) -> bool:
    """Whether it overflows where its right value does not."""
    return row.verdict == Verdict.FLOAT32.value and not isfinite(row.analytic or 0.0)


def _others(problems: Sequence[Problem], known: Known) -> Iterator[str]:
    """Gradients that differences support, and that are not what came elsewhere."""
    apart = [p for p in problems if p.code == RECORDED_GRADIENT]
    unexpected = sum(p.severity == "error" for p in apart)
    expected = sum(p.severity == "warning" and p.node in known.gradients for p in apart)
    for count, how in ((unexpected, ""), (expected, EXPECTED)):
        if count:
            yield f"{count} {'is' if count == 1 else 'are'} not what was recorded{how}"


def _counts(problems: Sequence[Problem]) -> Iterator[str]:
    """Of the graph and the run."""
    for severity, word in _SEVERITIES.items():
        if count := sum(p.severity == severity for p in problems):
            yield f"{count} {word}{'' if count == 1 else 's'}"


def _held(expectations: Sequence[CheckedExpectation]) -> Iterator[str]:
    if expectations:
        held, count = sum(e.ok for e in expectations), len(expectations)
        yield f"{held} of {count} expectation{'' if count == 1 else 's'} hold{'s' * (count == 1)}"
