"""A document on standard input, named `-`: put into a file, as readers look around in it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.output.command_output import usage
from gradstep.core.io.disk.memory_budget import Budget

NAME = "-"
_PIECE = 1 << 20  # bytes


@contextmanager
def documents_from_input(verb: str, args: argparse.Namespace) -> Iterator[None]:
    """Inside, the FILE (or OTHER) of `args` that is `-` is a file with what stands on standard
    input. Raises GradstepError (UsageError) where that is read for something else."""
    named = [key for key in ("file", "other") if getattr(args, key, None) == NAME]
    if not named or verb == "shot" or os.path.exists(NAME):  # shot: the start page
        yield
        return
    # What other starts do without.
    from tempfile import TemporaryDirectory

    from gradstep.core.io.disk.atomic_write import write_file

    if len(named) > 1:
        raise usage("standard input holds one document", "name the other one's file")
    if reason := _taken(verb, args):
        raise usage(f"{reason}, so the document cannot be {NAME}", "name a file")
    with TemporaryDirectory(prefix="gradstep-") as folder:
        path = Path(folder, "standard-input")
        write_file(path, lambda file: _copy(file, budget(args)))
        setattr(args, named[0], str(path))
        yield


def _taken(verb: str, args: argparse.Namespace) -> str:
    """What standard input is for besides; "" for nothing."""
    if verb == "debug" and args.script is None:
        return "the debugger takes its commands from standard input"
    if verb == "sweep" and args.end_with_input:
        return "--end-with-input waits for the end of standard input"
    if getattr(args, "sandbox", False):
        return "--sandbox lets no file be made that it could be put into"
    if verb == "expect" and not args.out:
        return "without --out the expectations are written into the document itself"
    return ""


def _copy(file: IO[bytes], most: Budget) -> None:
    """Raises OverBudgetError where there is more of it than reading may take."""
    while piece := sys.stdin.buffer.read(_PIECE):
        most.take(len(piece), "what stands on standard input")
        file.write(piece)
