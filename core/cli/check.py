"""Check a document: its problems, its gradients, and what it expects of its runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from gradstep.core.checks.expectations.expectation_runs import check_expectations
from gradstep.core.checks.gradients.check_conclusion import Known, conclusion
from gradstep.core.checks.gradients.gradient_checks import gradient_tables, table_of_node
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.recorded_disagreement import (
    recorded_disagreement,
    with_disagreement,
)
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import as_it_stands, load
from gradstep.core.cli.arguments.shared_arguments import require_with
from gradstep.core.cli.command_line import verb_parser
from gradstep.core.cli.output.check_text import text
from gradstep.core.cli.output.command_output import usage
from gradstep.core.cli.output.jacobian_text import jacobian_object, jacobian_text
from gradstep.core.cli.output.problem_json import problem_object
from gradstep.core.cli.runs.check_campaign import check_folder
from gradstep.core.cli.runs.checked_lints import find_lints
from gradstep.core.cli.runs.smallest_file import write_smallest
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeKind
from gradstep.core.document.requests import main_request
from gradstep.core.document.required_python import Asked
from gradstep.core.engine.backend import Backend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.problems import Problem
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.jacobian_answers import find_jacobian
from gradstep.core.host.rule_reduction import first_wrong_rule, reduced_rule
from gradstep.core.host.workers.work_link import link
from gradstep.core.io.format_table import is_main_file
from gradstep.core.program.derive import derive
from gradstep.core.program.missing_functions import find_missing_functions
from gradstep.core.program.questions.first_run_values import situation, situations
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.race_problems import races_of
from gradstep.core.progress import tell_progress
from gradstep.core.protocol.messages import CheckedExpectation, CheckedTensor, GradientTable


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """All problems, every element of every gradient, and every node on the way by itself, and what
    the document expects. Exit status 1 where there is an error, a gradient that the numbers do not
    support or that is not the recorded one, or an expectation that does not hold; what the document
    expects is none."""
    folder = Path(args.file)
    if folder.is_dir() and not any(is_main_file(path.name) for path in folder.iterdir()):
        require_with(args, "one document", ["reduce"], "name a document, or leave it away")
        return check_folder(args, check_document)
    about_folders = ["workers", "lines"]
    if args.reduce and args.jacobian:
        raise usage("--reduce is about the check", "leave --jacobian away")
    require_with(args, "a folder", about_folders, "name a folder of documents, or leave it away")
    if args.jacobian:
        return _jacobian(args, app)
    answer, found = _check(args, app)
    return _with_smallest(args, app, answer, found) if args.reduce else answer


def _with_smallest(
    args: argparse.Namespace, app: Application, answer: Answer, table: GradientTable | None
) -> Answer:
    """And the smallest document that shows the first rule that is wrong."""
    wrong = first_wrong_rule(table, args.node or "")
    loaded = load(args)
    backend = open_devices(args, app.devices(), loaded.document)
    program, given = derive(loaded.document, loaded.functions), situation(loaded, backend).given
    find = partial(reduced_rule, loaded, backend, program, given, wrong)
    reduced, text = write_smallest(args.reduce, find, app.picture)
    return Answer({**answer.data, "reduced": reduced}, f"{answer.text}\n{text}", answer.status)


def _jacobian(args: argparse.Namespace, app: Application) -> Answer:
    """Of one operation, as the first run leaves it."""
    if not args.node:
        raise GradstepError(
            "--jacobian is of one operation", kind="ValueError", hint="name it with --node"
        )
    loaded = load(args)
    program = derive(loaded.document, loaded.functions)
    session = DebugSession(program, open_devices(args, app.devices(), loaded.document))
    session.continue_()
    found, buffers = find_jacobian(session, args.node)
    wrong = any(block.wrong for block in found.blocks)
    data = {"passed": not wrong, **jacobian_object(found, buffers)}
    return Answer(data, jacobian_text(found, buffers), 1 if wrong else 0)


def check_document(file: str, words: list[str]) -> Any:
    """In another process: what a check of `file` comes to, as plain data of a Checked."""
    args = verb_parser("check").parse_args([*words, "--", file])
    answer, _ = _check(args, _Here())
    return {
        "file": file,
        "passed": bool(answer.data["passed"]),
        "conclusion": str(answer.data["conclusion"]),
    }


class _Here:
    """What a check asks of an application, in a process of a pool."""

    def devices(self) -> DeviceServices:
        return link().devices()


def _check(
    args: argparse.Namespace, app: Application | _Here
) -> tuple[Answer, GradientTable | None]:
    loaded = load(args)
    program = derive(loaded.document, loaded.functions)
    problems = [*program.problems, *races_of(program)]

    def backend() -> Backend:
        return open_devices(args, app.devices(), loaded.document)

    if not args.node:
        tell_progress("Looking for lints", 0, 0)
        problems += find_lints(args, loaded.document, program, backend)
    expected, known = _expectations(args, app, loaded)
    checked: GradientTable | None = None
    request = main_request(loaded.document)
    tell_progress("Checking gradients", 0, 0)
    if args.node:
        checked = _table(loaded, backend(), args, known)
    elif request.of and request.wrt:
        try:
            checked = _table(loaded, backend(), args, known)
        except GradstepError as error:
            if not any(p.severity == "error" for p in problems):
                problems.append(Problem.of(error, "gradient-check"))
    if not args.node and program.recorded is not None:
        apart = recorded_disagreement(program, known.gradients)
        problems = with_disagreement(problems, apart)
    found = conclusion(problems, checked, expected, known)
    missing = find_missing_functions(loaded.document)
    data = {"passed": found.passed, "conclusion": found.text, **_data(found.problems, checked)}
    data["expectations"] = [msgspec.to_builtins(e) for e in expected]
    data["missing_code"] = [_missing(asked) for asked in missing]
    said = text(found, checked, expected, missing, whole=args.all or bool(args.node))
    return Answer(data, said, 0 if found.passed else 1), checked


def _missing(asked: Asked) -> dict[str, Any]:
    """Python to be written: for which operations, and what to start from."""
    kind, nodes = asked.kind.value, [*asked.nodes]
    return {"name": asked.name, "kind": kind, "nodes": nodes, "source": asked.stub}


def _expectations(
    args: argparse.Namespace, app: Application | _Here, loaded: Loaded
) -> tuple[list[CheckedExpectation], Known]:
    """Of the file as it stands, whatever else the arguments ask: they are about its own feeds,
    overrides and devices. What they say of gradients and failures is known of what is checked only
    where that is the same."""
    if args.node:
        return [], Known()
    own = as_it_stands(args)
    tell_progress("Checking what the document expects", 0, 0)
    checked = check_expectations(own.document, own.functions, app.devices().open_backend)
    same = args.device in ("", "cpu") and all(
        getattr(own.document, part) == getattr(loaded.document, part)
        for part in ("request", "feeds", "init")
    )
    return checked, Known.of(own.document.expectations, checked) if same else Known()


def _table(
    loaded: Loaded, backend: Backend, args: argparse.Namespace, known: Known
) -> GradientTable:
    evaluate = Evaluator(loaded.of_kind(CodeKind.PYFUNC))
    here = situation(loaded, backend)
    if args.node:
        return table_of_node(evaluate, here, args.node, args.second_order)
    every = [here] if args.of or args.wrt else situations(here, loaded.document)
    return gradient_tables(evaluate, every, args.second_order, known.gradients)


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
