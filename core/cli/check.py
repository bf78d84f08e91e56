"""Problems of a graph, whether its gradients agree with finite differences, and whether what the
document expects of its runs holds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import msgspec

from core.cli import arguments
from core.cli.check_text import text
from core.cli.loading import Loaded, as_it_stands, load
from core.cli.ports import Answer, Application
from core.cli.problem_output import problem_object
from core.cli.situation import situation, situations
from core.engine.backend import Backend
from core.errors import GradstepError
from core.graph.problems import Problem
from core.host.checking import gradient_tables, table_of_node
from core.host.derive import derive
from core.host.evaluator import Evaluator
from core.host.expectations import check_expectations
from core.host.messages import CheckedExpectation, CheckedTensor, GradientTable
from core.host.missing_code import needed_code
from core.io.asked_code import Asked
from core.io.document import CodeKind
from core.io.requests import main_request


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gradstep check`."""
    arguments.document(parser)
    arguments.gradients(parser)
    arguments.running(parser)
    parser.add_argument(
        "--node",
        metavar="NAME",
        help="check the gradient of one operation alone, on the way to --of or not",
    )
    parser.add_argument(
        "--second-order", action="store_true", help="check the gradients of gradients, too"
    )


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """All problems, every element of every gradient, and every node on the way by itself; exit
    status 1 when there is an error, or a gradient that the numbers do not support."""
    loaded = load(args)
    problems = list(derive(loaded.document, loaded.functions).problems)
    checked: GradientTable | None = None
    request = main_request(loaded.document)
    if args.node:
        checked = _table(loaded, app.devices().open_backend(args.device), args)
    elif request.of and request.wrt:
        try:
            checked = _table(loaded, app.devices().open_backend(args.device), args)
        except GradstepError as error:
            if not any(p.severity == "error" for p in problems):
                problems.append(Problem.of(error, "gradient-check"))
    problems += _doubts(checked)
    expected = _expectations(args, app)
    failed = any(p.severity == "error" for p in problems) or not all(e.ok for e in expected)
    missing = needed_code(loaded.document)
    data = _data(problems, checked)
    data["expectations"] = [msgspec.to_builtins(e) for e in expected]
    data["missing_code"] = [_missing(asked) for asked in missing]
    return Answer(data, text(problems, checked, expected, missing), 1 if failed else 0)


def _missing(asked: Asked) -> dict[str, Any]:
    """Python to be written: for which operations, and what to start from."""
    kind, nodes = asked.kind.value, [*asked.nodes]
    return {"name": asked.name, "kind": kind, "nodes": nodes, "source": asked.stub}


def _expectations(args: argparse.Namespace, app: Application) -> list[CheckedExpectation]:
    """Of the file as it stands, whatever else the arguments ask: they are about its own feeds,
    overrides and devices."""
    if args.node:
        return []
    loaded = as_it_stands(args)
    return check_expectations(loaded.document, loaded.functions, app.devices().open_backend)


def _table(loaded: Loaded, backend: Backend, args: argparse.Namespace) -> GradientTable:
    evaluate = Evaluator(loaded.of_kind(CodeKind.PYFUNC))
    here = situation(loaded, backend)
    if args.node:
        return table_of_node(evaluate, here, args.node, args.second_order)
    every = [here] if args.of or args.wrt else situations(here, loaded.document)
    return gradient_tables(evaluate, every, args.second_order)


def _doubts(checked: GradientTable | None) -> list[Problem]:
    """Gradients that the numbers do not support, at the nodes that make them; a warning where
    what was asked for is right all the same."""
    if checked is None:
        return []
    right = bool(checked.rows) and all(row.agrees for row in checked.rows)
    found = [
        Problem(
            node.node,
            "gradient-check",
            node.text,
            node.fix,
            "warning" if right or node.agrees else "error",
        )
        for node in checked.nodes
        if node.verdict == "wrong"
    ]
    said = any(problem.severity == "error" for problem in found)
    if (checked.rows and not right and not said) or _wrong_again(checked):
        severity = "warning" if right else "error"
        found.append(Problem("", "gradient-check", checked.text, severity=severity))
    return found


def _wrong_again(checked: GradientTable) -> bool:
    return any(tensor.verdict == "wrong" for tensor in checked.second)


def _data(problems: Sequence[Problem], checked: GradientTable | None) -> dict[str, Any]:
    found = [problem_object(p) for p in problems]
    if checked is None:
        return {"problems": found, "gradcheck": []}
    nodes = [_tensor(t) for node in checked.nodes for t in node.tensors]
    return {
        "problems": found,
        "gradcheck": [msgspec.to_builtins(row) for row in checked.rows] or nodes,
        "nodes": nodes,
        "second_order": [_tensor(t) for t in checked.second],
        "unchecked": msgspec.to_builtins(checked.unchecked),
        "supports": checked.supports,
        "text": checked.text,
    }


def _tensor(tensor: CheckedTensor) -> dict[str, Any]:
    return dict(msgspec.to_builtins(tensor))
