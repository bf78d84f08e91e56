"""Problems, as they are printed and as they stand in --json."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.problems import Problem


def problem_text(p: Problem) -> str:
    """`warning: e: what is wrong`, and on the next line what to do."""
    place = f"{p.node}: " if p.node else ""
    return f"{p.severity}: {place}{p.text}" + (f"\n  {p.fix}" if p.fix else "")


def problem_object(p: Problem) -> dict[str, Any]:
    """One of `check`'s problems."""
    return {
        "node": p.node or None,
        "code": p.code,
        "text": p.text,
        "fix": p.fix,
        "severity": p.severity,
    }
