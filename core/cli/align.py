"""The same network from two frameworks, aligned by its values, and what is other in it."""

from __future__ import annotations

import argparse
import copy
import math
from dataclasses import asdict
from typing import Any

from gradstep.core.checks.alignment.network_alignment import align
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.alignment_text import alignment_text
from gradstep.core.errors import GradstepError
from gradstep.core.program.questions.loaded_document import Loaded


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Of run 0 of both."""
    if args.device != "cpu":
        raise GradstepError(
            f"networks are aligned on the processor, not on {args.device}",
            kind="ValueError",
            hint="leave --device out; gradstep compare holds devices against each other",
        )
    found = align(load(args), _other(args), args.tolerance)
    text = alignment_text(found, args.file, args.other, args.all)
    return Answer(_plain({**asdict(found), "agrees": found.agrees}), text, int(not found.agrees))


def _other(args: argparse.Namespace) -> Loaded:
    """OTHER as it stands: what is said of feeds, checkpoints and initialisation is FILE's."""
    theirs = copy.copy(args)
    theirs.file, theirs.feed, theirs.init, theirs.restore = args.other, [], None, None
    return load(theirs)


def _plain(value: Any) -> Any:
    """For JSON, which has no infinity."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
