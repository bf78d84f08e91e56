"""Problems as they stand in --json."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.problems import Problem


def problem_object(p: Problem) -> dict[str, Any]:
    """One of `check`'s problems."""
    return {
        "node": p.node or None,
        "code": p.code,
        "text": p.text,
        "fix": p.fix,
        "severity": p.severity,
    }
