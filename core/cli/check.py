"""Problems of a graph, and whether its gradients agree with finite differences."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from core.cli import arguments
from core.cli.loading import Loaded, load
from core.cli.output import table
from core.cli.ports import Answer, Application
from core.cli.situation import situation
from core.engine.backend import Backend
from core.errors import GradstepError
from core.graph.problems import Problem
from core.host.checking import gradient_table
from core.host.derive import derive
from core.host.evaluator import Evaluator
from core.host.messages import GradientTable
from core.io.document import CodeKind


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gradstep check`."""
    arguments.document(parser)
    arguments.gradients(parser)
    arguments.running(parser)


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """All problems, and every element of every gradient; exit status 1 when there is an error,
    or a gradient that the numbers do not support."""
    loaded = load(args)
    problems = list(derive(loaded.document, loaded.functions).problems)
    checked: GradientTable | None = None
    if loaded.document.request.of and loaded.document.request.wrt:
        try:
            checked = _gradients(loaded, app.devices().open_backend(args.device))
        except GradstepError as error:
            if not any(p.severity == "error" for p in problems):
                problems.append(Problem.of(error, "gradient-check"))
    problems += _doubts(checked)
    failed = any(p.severity == "error" for p in problems)
    return Answer(_data(problems, checked), _text(problems, checked), 1 if failed else 0)


def _gradients(loaded: Loaded, backend: Backend) -> GradientTable:
    evaluate = Evaluator(loaded.of_kind(CodeKind.PYFUNC))
    return gradient_table(evaluate, situation(loaded, backend))


def _doubts(checked: GradientTable | None) -> list[Problem]:
    """Gradients that the numbers do not support, as problems at the nodes that make them."""
    if checked is None or all(row.agrees for row in checked.rows):
        return []
    wrong = [node for node in checked.nodes if not node.agrees]
    if not wrong:
        return [Problem("", "gradient-check", checked.text)]
    return [Problem(node.node, "gradient-check", node.text, node.fix) for node in wrong]


def _data(problems: list[Problem], checked: GradientTable | None) -> dict[str, Any]:
    found = [
        {
            "node": p.node or None,
            "code": p.code,
            "text": p.text,
            "fix": p.fix,
            "severity": p.severity,
        }
        for p in problems
    ]
    if checked is None:
        return {"problems": found, "gradcheck": []}
    return {
        "problems": found,
        "gradcheck": [msgspec.to_builtins(row) for row in checked.rows],
        "supports": checked.supports,
        "text": checked.text,
    }


def _text(problems: list[Problem], checked: GradientTable | None) -> str:
    parts = [_problem(p) for p in problems] or ["no problems"]
    if checked is not None:
        header = ["", "native", "override", "numeric", "agrees"]
        parts.append(table([_row(row) for row in checked.rows], header))
        parts.append(checked.text)
    return "\n".join(parts)


def _problem(p: Problem) -> str:
    place = f"{p.node}: " if p.node else ""
    return f"{p.severity}: {place}{p.text}" + (f"\n  {p.fix}" if p.fix else "")


def _row(row: Any) -> list[str]:
    index = "".join(f"[{i}]" for i in row.index)
    numbers = ["None" if v is None else f"{v:.7g}" for v in (row.native, row.override, row.numeric)]
    return [f"{row.name}{index}", *numbers, "yes" if row.agrees else "NO"]
