"""What a shorter number format does to a result, and which operations make the error."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from gradstep.core.checks.precision.precision_report import Question, examine
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.precision_text import precision_text
from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.errors import GradstepError


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Of run 0, and of a training where one is asked for."""
    if args.device != "cpu":
        raise GradstepError(
            f"formats are imitated on the processor, not on {args.device}",
            kind="ValueError",
            hint="leave --device out",
        )
    program = sound_program(load(args))
    question = Question(
        args.format, args.target, tuple(args.scope), args.tolerance, args.train, args.runs
    )
    found = examine(program, question)
    return Answer(asdict(found), precision_text(found, program.graph, args.all))
