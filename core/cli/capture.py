"""The exporter of a framework, to be saved where that framework is installed."""

from __future__ import annotations

import argparse

from gradstep.core.capture.exporter_files import EXPORTERS, exporter_text
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.io.disk.atomic_write import replace_file


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Print it, or write it to a file."""
    text = exporter_text(args.framework)
    data = {"framework": args.framework, "name": EXPORTERS[args.framework].name}
    if args.out is None:
        return Answer({**data, "source": text}, text.removesuffix("\n"))
    replace_file(args.out, text.encode())
    return Answer({**data, "out": str(args.out)}, f"{args.out} is there: import it, and save(…)")
