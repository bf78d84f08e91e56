"""A picture of the window on a document, stopped after some steps."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli import arguments
from core.cli.ports import Answer, Application
from core.cli.values import usage
from core.io.open import read


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gradstep shot`."""
    parser.add_argument("file", metavar="FILE", help=".gradstep, .pb or .pbtxt")
    parser.add_argument("out", metavar="OUT.png", type=Path)
    parser.add_argument("--step", metavar="N", type=int, default=0, help="steps to take first")
    parser.add_argument("--theme", metavar="T", choices=("light", "dark"), default="dark")
    parser.add_argument("--size", metavar="WxH", type=arguments.size, default=(1600, 1000))


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Write the picture. Raises GradstepError before a window is made for a bad file."""
    if args.out.suffix.lower() != ".png":
        raise usage(f"a shot is a .png, not {args.out.suffix or 'a file without a suffix'}")
    read(args.file)
    app.shot(Path(args.file), args.out, args.step, args.theme, args.size)
    return Answer({"shot": str(args.out)}, f"wrote {args.out}")
