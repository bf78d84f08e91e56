"""Play the tutorial through the real window, and keep pictures of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli.ports import Application


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gradstep tour`."""
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path("out"), help="for pictures"
    )


def execute(args: argparse.Namespace, app: Application) -> int:
    """The exit status of the tour."""
    return app.tour(args.out)
