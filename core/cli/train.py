"""Train a document and write summaries. It comes in a later version."""

from __future__ import annotations

import argparse
from typing import NoReturn

from core.cli import arguments
from core.cli.ports import Application
from core.cli.values import usage


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gradstep train`."""
    arguments.document(parser)
    arguments.running(parser)
    parser.add_argument("--steps", metavar="N", type=arguments.positive, help="how many updates")
    parser.add_argument("--logdir", metavar="DIR", help="folder for TensorBoard's event files")


def execute(args: argparse.Namespace, app: Application) -> NoReturn:
    """Raises GradstepError (UsageError): there is no training loop yet."""
    raise usage(
        "`gradstep train` comes in a later version",
        f"until then: gradstep run {args.file} --runs N executes the updates N times",
    )
