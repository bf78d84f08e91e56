"""Everything that is wrong now, from drawing, deriving and running, each thing once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from core.graph.problems import UNFINISHED, Problem
from core.host.messages import ErrorInfo, GradientTable, ProblemInfo, ProgramInfo
from gui.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """node: the operation it stands at, or ""; index: the element of its tensor, or ()."""

    node: str
    text: str
    fix: str
    severity: str = "error"
    index: tuple[int, ...] = ()


def current_problems(workspace: Workspace) -> list[ProblemRow]:
    """What is wrong in the workspace now."""
    error = workspace.stop.error if workspace.stop is not None else None
    drawn = workspace.inference.problems
    rows = problem_rows(drawn, workspace.program, error, workspace.failure)
    if workspace.stop is not None and workspace.stop.reason == "blocked":
        rows[0] = replace(rows[0], severity="warning")  # it can still go on
    return rows + _wrong_gradients(workspace.table)


def problem_rows(
    drawn: Iterable[Problem], program: ProgramInfo | None, *failures: ErrorInfo | None
) -> list[ProblemRow]:
    """Errors of the run first, then those of the program, then those of the drawing; and after them
    what is not finished yet."""
    found = [_of_error(error) for error in failures if error is not None]
    found += [_of_error(error) for error in (program.problems if program is not None else ())]
    found += [ProblemRow(p.node, p.text, p.fix, _severity(p.code, p.severity)) for p in drawn]
    return sorted(_once(found), key=lambda row: row.severity == "info")


def _wrong_gradients(table: GradientTable | None) -> list[ProblemRow]:
    """What the last check of the gradients found, as warnings: the network runs all the same."""
    return [
        ProblemRow(
            node.node, f"{node.gradient} is not its gradient: {node.text}", node.fix, "warning"
        )
        for node in (table.nodes if table is not None else ())
        if not node.agrees
    ]


def _of_error(error: ErrorInfo) -> ProblemRow:
    severity = error.severity if isinstance(error, ProblemInfo) else "error"
    severity = _severity(error.type, severity)
    return ProblemRow(
        error.node or "", error.message, error.hint, severity, tuple(error.index or ())
    )


def _severity(code: str, severity: str) -> str:
    """Nobody has made a mistake who goes on drawing."""
    return "info" if code in UNFINISHED else severity


def _once(rows: Iterable[ProblemRow]) -> Iterator[ProblemRow]:
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.node, row.text) not in seen:
            seen.add((row.node, row.text))
            yield row
