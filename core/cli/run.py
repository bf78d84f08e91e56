"""Compute values: those of --fetch alone, or what the document itself runs, updates included."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from types import MappingProxyType

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
from gradstep.core.cli.runs import require_threads
from gradstep.core.engine.backend import Backend
from gradstep.core.host.whole_runs import counted_runs
from gradstep.core.program.questions.loaded_document import Loaded, start
from gradstep.core.program.questions.run_choice import (
    RunChoice,
    Values,
    choose_run,
    run_again,
    run_once,
)
from gradstep.core.program.questions.thread_hints import name_threads


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Values of every fetch in every run; an operation without outputs has none (null)."""
    layout = shared_arguments.layout(args)
    loaded = load(args)
    backend = open_devices(args, app.devices(), loaded.document)
    if args.threads:
        from gradstep.core.cli.runs.run_threads import run_with_threads

        require_threads.require_threads(loaded)
        if args.fast or args.kernels:
            raise usage("--threads runs as the debugger does", "leave --fast and --kernels out")
        return _answer(args, run_with_threads(loaded, backend, args.fetch, args.runs), backend)
    choice = _chosen(loaded, args.fetch)
    logs = [b for b in loaded.document.breakpoints if b.log and b.enabled]
    if logs and not (args.fetch or args.fast or args.kernels):
        from gradstep.core.cli.runs.run_logged import run_logged

        with name_threads(loaded, "--threads"):
            return _answer(args, run_logged(loaded, backend, choice, args.runs, logs), backend)
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
    return _answer(args, runs, backend, data, notes)


def _answer(
    args: argparse.Namespace,
    runs: list[Values],
    backend: Backend,
    more: Mapping[str, object] = MappingProxyType({}),
    notes: Sequence[str] = (),
) -> Answer:
    """As one object or as text, whichever is asked for: of many runs either takes longer than the
    runs."""
    if not args.json:
        lines = [_text(runs, backend), *placement_lines(backend), *notes]
        return Answer({}, "\n".join(lines))
    objects = [{"fetches": {n: tensor_object(v) for n, v in run.items()}} for run in runs]
    if placed := placement_object(backend):
        more = {**more, "transfers": placed}
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


def _text(runs: list[Values], backend: Backend) -> str:
    parts = []
    for number, run in enumerate(runs, 1):
        rows = [[name, tensor_text(value)] for name, value in run.items()]
        parts.append((f"run {number}\n" if len(runs) > 1 else "") + table(rows))
    if not backend.measured:
        parts.append(f"emulated: {backend.source}")
    return "\n".join(parts)
