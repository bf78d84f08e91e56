"""The engine process: requests on standard input, answers on standard output."""

from __future__ import annotations

import argparse

from gradstep.core.cli.application_protocol import Application
from gradstep.core.cli.output.command_output import usage


def execute(args: argparse.Namespace, app: Application) -> int:
    """Serve until standard input ends; the exit status."""
    if not args.stdio:
        raise usage("the engine speaks over --stdio only", "write gradstep engine --stdio")
    if args.worker:
        from gradstep.core.host.workers.worker_entry import run_worker

        return run_worker(app.devices)
    from gradstep.core.host.process.engine_entry import run_engine

    return run_engine(app.devices, args.sandbox)
