"""A picture of the window on a document, stopped after some steps."""

from __future__ import annotations

import argparse
from pathlib import Path

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.command_table import START_PAGE
from gradstep.core.cli.output.command_output import usage
from gradstep.core.io.open_document import read


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Write the picture. Raises GradstepError before a window is made for a bad file."""
    if args.out.suffix.lower() != ".png":
        suffix = args.out.suffix or "a file without a suffix"
        better = args.out.with_suffix(".png") if args.out.name else args.out / "shot.png"
        raise usage(f"a shot is a .png, not {suffix}", f"write {better}")
    path = None if args.file == START_PAGE else Path(args.file)
    if path is not None:
        read(path, budget(args))
    step, inside = args.step
    names = ("theme", "size", "scale", "select", "show", "compare", "profile", "colour", "memory")
    look = {name: getattr(args, name) for name in names}
    app.shot(path, args.out, step=step, inside=inside, **look)
    return Answer({"shot": str(args.out)}, f"wrote {args.out}")
