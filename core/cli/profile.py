"""Where the time and the bytes of a run go: by operation, phase and scope; and what passes do."""

from __future__ import annotations

import argparse
from dataclasses import asdict

import msgspec

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.profile_text import text, totals
from gradstep.core.cli.runs import require_threads
from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.debug.history.first_variables import first_variables
from gradstep.core.engine.run.step_costs import require_times
from gradstep.core.graph.scopes import parents
from gradstep.core.host.profile_answers import Wish, profile_runs
from gradstep.core.program.questions.thread_hints import name_threads
from gradstep.core.protocol.messages import ProfileRow


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """What the debugger would run, measured: gradients and updates included."""
    layout = shared_arguments.layout(args)
    mode = "fast" if layout["fast"] else "recorded"
    wish = Wish(mode, args.runs, layout["without"], layout["kernels"], args.threads)
    wish.require()
    loaded = load(args)
    backend = open_devices(args, app.devices(), loaded.document)
    require_times(backend)
    if args.threads:
        require_threads.require_threads(loaded)
    program = sound_program(loaded)
    with name_threads(loaded, "" if args.threads else "--threads"):
        found = profile_runs(program, backend, first_variables(program, backend), wish)
    phases, scopes = totals(found.rows, _phase), totals(found.rows, _scopes)
    device = {"name": backend.name, "measured": backend.measured, "source": backend.source}
    data = {
        "mode": found.mode,
        "runs": found.runs,
        "seconds": found.seconds,
        "device": device,
        "rows": msgspec.to_builtins(found.rows),
        "phases": [asdict(total) for total in phases],
        "scopes": [asdict(total) for total in scopes],
        "passes": msgspec.to_builtins(found.passes),
        "text": found.text,
    }
    return Answer(data, text(found, phases, scopes))


def _phase(row: ProfileRow) -> list[str]:
    return [row.phase]


def _scopes(row: ProfileRow) -> list[str]:
    """All that the operation is inside of, or the forward operation that it belongs to."""
    return list(parents(row.origin))
