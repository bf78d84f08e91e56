"""What is wrong with a graph, said at the node, never raised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gradstep.core.errors import GradstepError

Severity = Literal["error", "warning", "info"]

# Codes of what is no mistake, but not drawn to its end yet: what is open, and what waits for that.
OPEN, WAITING = frozenset({"unconnected", "unfed"}), "waiting"
UNFINISHED = OPEN | {WAITING}
# Codes of what keeps data from being fed; the second: a placeholder takes other numbers of rows.
DATA, DATA_ROWS = "data", "data-rows"
RECORDED_GRADIENT = "recorded-gradient"  # of one that another framework had another of


@dataclass(frozen=True, slots=True)
class Problem:
    """node: operation it stands at ("" for the whole graph); code: stable kebab-case kind;
    text: what is wrong; fix: what to do; kind: of the error that it was, if
    it was one."""

    node: str
    code: str
    text: str
    fix: str = ""
    severity: Severity = "error"
    kind: str = field(default="", compare=False)

    @classmethod
    def of(cls, error: GradstepError, code: str) -> Problem:
        return cls(error.node or "", code, error.message, error.hint, kind=error.kind)


def problem_text(p: Problem) -> str:
    """`warning: e: what is wrong`, and on the next line what to do."""
    place = f"{p.node}: " if p.node else ""
    return f"{p.severity}: {place}{p.text}" + (f"\n  {p.fix}" if p.fix else "")
