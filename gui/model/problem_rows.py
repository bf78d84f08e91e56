"""Everything that is wrong now, from drawing, deriving and running, each thing once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from msgspec import structs

from gradstep.core.graph.problems import OPEN, UNFINISHED, WAITING, Problem, Severity
from gradstep.core.io.formats.gradstep_document import SUFFIX
from gradstep.core.protocol.messages import (
    BrokenNumbers,
    ErrorInfo,
    GradientTable,
    LintFinding,
    ProblemInfo,
    ProgramInfo,
)
from gradstep.core.protocol.vocabulary import PhaseName
from gradstep.gui.model.explanations import Question, find_differentiated
from gradstep.gui.model.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """node: the operation it stands at, or ""; index: the element of its tensor, or (). why: what
    there is to ask about a number, its value ("" for the second) or its gradient with respect to
    what; None of other problems. finding: of a lint, if it is one."""

    node: str
    text: str
    fix: str
    severity: Severity = "error"
    index: tuple[int, ...] = ()
    why: Question | None = None
    finding: LintFinding | None = None


def current_problems(workspace: Workspace) -> list[ProblemRow]:
    """What is wrong in the workspace now."""
    rows = _wrong_now(workspace) + _found_by_lints(workspace) + _zero_gradients(workspace)
    return sorted(rows, key=lambda row: row.severity == "info")


def count_problems(workspace: Workspace) -> int:
    """How many of these are more than a remark. No gradient is read for that."""
    rows = _wrong_now(workspace) + _found_by_lints(workspace)
    return sum(row.severity != "info" for row in rows)


def _wrong_now(workspace: Workspace) -> list[ProblemRow]:
    """All but the gradients that are zero, which are a remark."""
    error = workspace.stop.error if workspace.stop is not None else None
    drawn = workspace.inference.problems
    rows = problem_rows(drawn, workspace.program, error, workspace.failure)
    if workspace.stop is not None and workspace.stop.reason == "blocked":
        rows[0] = replace(rows[0], severity="warning")  # it can still go on
    return rows + _broken_numbers(workspace.soundness.first) + _wrong_gradients(workspace.table)


def _found_by_lints(workspace: Workspace) -> list[ProblemRow]:
    """Of nodes that are still there: they were asked about a moment ago. Who looks at an example
    is not led there."""
    here = workspace.name.removesuffix(SUFFIX)
    return [
        ProblemRow(each.node, each.text, each.fix, each.severity, finding=_elsewhere(each, here))
        for each in workspace.lints.found
        if not each.node or each.node in workspace.document.graph
    ]


def _elsewhere(finding: LintFinding, here: str) -> LintFinding:
    return structs.replace(finding, example="") if finding.example == here else finding


def problem_rows(
    drawn: Iterable[Problem], program: ProgramInfo | None, *failures: ErrorInfo | None
) -> list[ProblemRow]:
    """Errors of the run first, then those of the program, then those of the drawing; and after them
    what is not finished yet, without what waits for that."""
    drawn, derived = [*drawn], [] if program is None else program.problems
    opens = {p.node for p in drawn if p.code in OPEN} | {p.node for p in derived if p.type in OPEN}
    found = [_of_error(error) for error in failures if error is not None]
    found += [_of_error(p) for p in derived if p.type != WAITING or p.node not in opens]
    found += [ProblemRow(p.node, p.text, p.fix, _severity(p.code, p.severity)) for p in drawn]
    return sorted(_once(found), key=lambda row: row.severity == "info")


def faults(drawn: Iterable[Problem], program: ProgramInfo | None) -> list[tuple[str, str]]:
    """Node -> what is wrong with it, to be marked there: nothing that is only unfinished, and
    nothing that the program remarks on, as it needs it for no run."""
    found = [] if program is None else program.problems
    remarks = {p.node for p in found if p.severity == "info"}
    said = [(p.node, p.text) for p in drawn if p.code not in UNFINISHED and p.node not in remarks]
    wrong = [p for p in found if p.severity != "info" and p.type not in UNFINISHED]
    return said + [(p.node or "", p.message) for p in wrong]


def _wrong_gradients(table: GradientTable | None) -> list[ProblemRow]:
    """What the last check of the gradients found, as warnings: the network runs all the same."""
    return [
        ProblemRow(
            node.node, f"{node.gradient} is not its gradient: {node.text}", node.fix, "warning"
        )
        for node in (table.nodes if table is not None else ())
        if not node.agrees
    ]


def _broken_numbers(first: BrokenNumbers | None) -> list[ProblemRow]:
    """The first NaN or infinity of the run, as one row, however many have come of it."""
    if first is None:
        return []
    kind = {"nan": "NaN", "inf": "Infinity"}[first.kind]
    run = f" of run {first.run + 1}" if first.run else ""
    began = f"there when run {first.run + 1} began"
    clauses = [f"{kind} in {_part(first.phase, first.node)}"]
    clauses.append(f"first at step {first.step}{run}" if first.step else began)
    if first.nan_node:
        clauses.append(f"NaN from {_part(first.nan_phase, first.nan_node)} on")
    some = "1 node holds" if first.nodes == 1 else f"{first.nodes} nodes hold"
    counted = f"; {some} NaN or infinity" if first.nodes else ""
    fix = "" if first.reached else _HARMLESS
    severity: Severity = "warning" if first.reached else "info"
    text = ", ".join(clauses) + counted
    return [ProblemRow(first.node, text, fix, severity, why=(first.tensor, ""))]


def _zero_gradients(workspace: Workspace) -> list[ProblemRow]:
    """Those that teach nothing, as one row, as a network that is dead has many; a remark, as masks
    make them, too."""
    zero = [ref for ref, state in workspace.gradient_states.bad if state == "zero"]
    of = find_differentiated(workspace, zero[0]) if zero else None
    if of is None:
        return []
    text = f"dL/d{zero[0].short} is 0 in every element"
    if len(zero) > 1:
        others = "1 other gradient" if len(zero) == 2 else f"{len(zero) - 1} other gradients"
        text += f", and so is every element of {others}"
    return [ProblemRow(zero[0].op, text, "", "info", why=(of.short, zero[0].short))]


_HARMLESS = "nothing that was asked for has it: no gradient, and no variable"


def _part(phase: PhaseName | Literal[""], node: str) -> str:
    """Of a node what came of it in that phase."""
    if phase == "backward":
        return f"the gradient of {node}"
    return f"the update of {node}" if phase == "update" else node


def _of_error(error: ErrorInfo) -> ProblemRow:
    said = error.severity if isinstance(error, ProblemInfo) else "error"
    severity = _severity(error.type, said)
    return ProblemRow(
        error.node or "", error.message, error.hint, severity, tuple(error.index or ())
    )


def _severity(code: str, severity: Severity) -> Severity:
    """Nobody has made a mistake who goes on drawing."""
    return "info" if code in UNFINISHED else severity


def _once(rows: Iterable[ProblemRow]) -> Iterator[ProblemRow]:
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.node, row.text) not in seen:
            seen.add((row.node, row.text))
            yield row
