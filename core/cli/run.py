"""Compute values: those of --fetch alone, or what the document itself runs, updates included."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.command_output import (
    kernel_lines,
    table,
    tensor_object,
    tensor_text,
    usage,
)
from gradstep.core.cli.output.placement_text import placement_lines, placement_object
from gradstep.core.cli.output.problem_json import problem_object
from gradstep.core.cli.output.said_problems import say_problems
from gradstep.core.cli.runs import require_threads
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import Graph
from gradstep.core.graph.problems import Problem
from gradstep.core.host.whole_runs import counted_runs
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded, start
from gradstep.core.program.questions.program_errors import find_errors
from gradstep.core.program.questions.run_choice import (
    NOT_COMPUTED,
    RunChoice,
    Values,
    choose_run,
    not_computed,
    run_again,
    run_once,
)
from gradstep.core.program.questions.thread_hints import name_threads


class _Ran(NamedTuple):
    """runs: what was made; graph: of which; problems: what they did without."""

    runs: list[Values]
    graph: Graph
    problems: Sequence[Problem] = ()


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Values of every fetch in every run; an operation without outputs has none (null), and where
    nothing was asked for by name, so has what is in a branch that was not taken."""
    layout = shared_arguments.layout(args)
    loaded = load(args)
    backend = open_devices(args, app.devices(), loaded.document)
    if args.threads:
        from gradstep.core.cli.runs.run_threads import run_with_threads

        require_threads.require_threads(loaded)
        if args.fast or args.kernels:
            raise usage("--threads runs as the debugger does", "leave --fast and --kernels out")
        program = derive(loaded.document, loaded.functions)
        runs = run_with_threads(program, backend, args.fetch, args.runs)
        problems = [] if args.fetch else find_errors(program)
        return _answer(args, _Ran(runs, program.graph, problems), backend)
    choice = _chosen(loaded, args.fetch)
    logs = [b for b in loaded.document.breakpoints if b.log and b.enabled]
    if logs and not (args.fetch or args.fast or args.kernels):
        from gradstep.core.cli.runs.run_logged import run_logged

        with name_threads(loaded, "--threads"):
            runs = run_logged(loaded, backend, choice, args.runs, logs)
        return _answer(args, _Ran(runs, choice.graph, choice.problems), backend)
    session = start(loaded, choice.graph, backend, choice.initial, **layout)
    with name_threads(loaded, "--threads"):
        if loaded.batches is None:
            again = run_again(session, loaded.feeds(), choice)
            runs = [again() for _ in counted_runs(args.runs)]
        else:
            runs = [run_once(session, loaded.feeds(n), choice) for n in counted_runs(args.runs)]
    data: dict[str, object] = {}
    if layout["kernels"]:
        data["kernels"] = session.computed_by
    if args.fast:
        data["rounding"] = session.rounding
    notes = [*kernel_lines(session.computed_by), *map(rounding_line, session.rounding)]
    return _answer(args, _Ran(runs, choice.graph, choice.problems), backend, data, notes)


def _answer(
    args: argparse.Namespace,
    ran: _Ran,
    backend: Backend,
    more: Mapping[str, object] = MappingProxyType({}),
    notes: Sequence[str] = (),
) -> Answer:
    """As one object or as text, whichever is asked for: of many runs either takes longer than the
    runs. What they did without is said besides."""
    say_problems(ran.problems)
    if not args.json:
        lines = [_text(ran, backend), *placement_lines(backend), *notes]
        return Answer({}, "\n".join(lines))
    objects = [_object(run, ran.graph) for run in ran.runs]
    if placed := placement_object(backend):
        more = {**more, "transfers": placed}
    if ran.problems:
        more = {**more, "problems": [problem_object(p) for p in ran.problems]}
    return Answer({"runs": objects, "device": device_object(backend), **more}, "")


def _chosen(loaded: Loaded, names: list[str]) -> RunChoice:
    """What to run. Raises GradstepError (UsageError) where nothing is asked for."""
    choice = choose_run(loaded, names)
    if choice.nothing:
        raise usage("nothing to compute: --fetch is missing", f"write --fetch NAME{choice.lacks}")
    return choice


def device_object(backend: Backend) -> dict[str, object]:
    """What computed, and whether it is an imitation."""
    return {"name": backend.name, "measured": backend.measured, "source": backend.source}


def rounding_line(name: str) -> str:
    """What is said of a pass that changed results."""
    return f'may round otherwise, because of "{name}"; --without "{name}" leaves that out'


def _object(run: Values, graph: Graph) -> dict[str, object]:
    """A run as JSON has it; what is dead in it is null and named."""
    found: dict[str, object] = {"fetches": {n: tensor_object(v) for n, v in run.items()}}
    if dead := not_computed(graph, run):
        found["not_computed"] = dead
    return found


def _text(ran: _Ran, backend: Backend) -> str:
    parts = []
    for number, run in enumerate(ran.runs, 1):
        dead = not_computed(ran.graph, run)
        rows = [[n, NOT_COMPUTED if n in dead else tensor_text(v)] for n, v in run.items()]
        parts.append((f"run {number}\n" if len(ran.runs) > 1 else "") + table(rows))
    if not backend.measured:
        parts.append(f"emulated: {backend.source}")
    return "\n".join(parts)
