"""Play the tutorial through the real window, and keep pictures of it."""

from __future__ import annotations

import argparse

from gradstep.core.cli.application_protocol import Application


def execute(args: argparse.Namespace, app: Application) -> int:
    """The exit status of the tour."""
    return app.tour(args.out)
