"""Compute values: those of --fetch alone, or what the document itself runs, updates included."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.document_session import Loaded, load, start
from gradstep.core.cli.injected import Answer, Application
from gradstep.core.cli.output.command_output import (
    kernel_lines,
    table,
    tensor_object,
    tensor_text,
    usage,
)
from gradstep.core.cli.runs import thread_needs
from gradstep.core.document.requests import whole_request
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.declare.table import find

Values = dict[str, "np.ndarray | None"]


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Values of every fetch in every run; an operation without outputs has none (null)."""
    layout = shared_arguments.layout(args)
    loaded = load(args)
    backend = app.devices().open_backend(args.device)
    if args.threads:
        from gradstep.core.cli.runs.run_threads import run_with_threads

        thread_needs.require_threads(loaded)
        if args.fast or args.kernels:
            raise usage("--threads runs as the debugger does", "leave --fast and --kernels out")
        return _answer(run_with_threads(loaded, backend, args.fetch, args.runs), backend)
    begin = partial(start, loaded, backend=backend, **layout)
    session, fetches, targets = _plan(loaded, begin, args.fetch)
    with thread_needs.naming_threads(loaded, running=False):
        runs = [_run(session, loaded, fetches, targets) for _ in range(args.runs)]
    data: dict[str, object] = {}
    if layout["kernels"]:
        data["kernels"] = session.computed_by
    if args.fast:
        data["rounding"] = session.rounding
    notes = [*kernel_lines(session.computed_by), *map(rounding_line, session.rounding)]
    return _answer(runs, backend, data, notes)


def _answer(
    runs: list[Values],
    backend: Backend,
    more: Mapping[str, object] = MappingProxyType({}),
    notes: Sequence[str] = (),
) -> Answer:
    objects = [{"fetches": {n: tensor_object(v) for n, v in run.items()}} for run in runs]
    text = "\n".join([_text(runs, backend), *notes])
    return Answer({"runs": objects, "device": device_object(backend), **more}, text)


def _plan(
    loaded: Loaded, begin: Callable[..., Session], names: list[str]
) -> tuple[Session, list[str], tuple[str, ...]]:
    """A session on the graph that is needed, what to fetch, and what to run besides."""
    document = loaded.document
    _ = document.graph.order  # a cycle is said first, whatever it keeps from running
    if names and all(TensorRef.parse(name).op in document.graph for name in names):
        return begin(document.graph, initial=loaded.initial()), names, ()
    from gradstep.core.program.derive import derive

    program = derive(document, loaded.functions)
    session = begin(program.graph, initial=program.initial)
    if names:
        return session, names, ()
    asked = whole_request(document).of
    wanted = [ref.short for ref in document.fetches or asked]
    if not wanted and not program.targets:
        wrong = next((p for p in program.problems if p.severity == "error"), None)
        why = f"; {wrong.node or 'the document'} is left out: {wrong.text}" if wrong else ""
        raise usage("nothing to compute: --fetch is missing", f"write --fetch NAME{why}")
    return (
        session,
        [*wanted, *(t for t in program.targets if not asked)],
        program.targets if asked else (),
    )


def _run(session: Session, loaded: Loaded, names: list[str], targets: tuple[str, ...]) -> Values:
    tensors = [name for name in names if not runs_only(session.graph, name)]
    operations = [name for name in names if runs_only(session.graph, name)]
    values = session.run(tensors, loaded.feeds(), [*operations, *targets])
    found: Values = dict(zip(tensors, values, strict=True))
    return {name: found.get(name) for name in names}


def runs_only(graph: Graph, name: str) -> bool:
    """Whether `name` is an operation without outputs, which is run but has no value."""
    op = graph.operations.get(TensorRef.parse(name).op)
    definition = None if op is None else find(op.type)
    return definition is not None and not definition.outputs


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
