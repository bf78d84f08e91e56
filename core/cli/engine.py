"""The engine process: requests on standard input, answers on standard output."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gradstep.core.cli.application_protocol import Application
from gradstep.core.cli.output.command_output import usage

if TYPE_CHECKING:
    from gradstep.core.debug.concurrency.session_registry import Sessions
    from gradstep.core.host.engine_service import Answer, Terminal
    from gradstep.core.protocol.messages import RunLine


def execute(args: argparse.Namespace, app: Application) -> int:
    """Serve until standard input ends; the exit status."""
    if not args.stdio:
        raise usage("the engine speaks over --stdio only", "write gradstep engine --stdio")
    if args.worker:
        from gradstep.core.host.workers.worker_entry import run_worker

        return run_worker(app.devices)
    from gradstep.core.host.process.engine_entry import run_engine

    return run_engine(app.devices, args.sandbox, window_console)


def window_console() -> Terminal:
    """The console of the terminal, for the window that asks this engine; loaded at its first
    line."""

    def answer(sessions: Sessions, request: RunLine) -> Answer:
        from gradstep.core.cli.console.relayed_acts import answer_line

        return answer_line(sessions, request)

    return answer
