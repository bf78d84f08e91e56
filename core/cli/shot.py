"""A picture of the window on a document, stopped after some steps."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli import arguments
from core.cli.output import usage
from core.cli.ports import Answer, Application
from core.io.open import read

START = "-"
LISTS = (
    ("--select", "NODE", "a node to select"),
    ("--show", "PANEL", "a panel to bring to the front: gradients, device_diff, …"),
    ("--compare", "DEVICE", "a device to compare with, such as emulate:tf-gpu"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gradstep shot`."""
    parser.add_argument(
        "file", metavar="FILE", help=f".gradstep, .pb, .pbtxt, or {START} (start page)"
    )
    parser.add_argument("out", metavar="OUT.png", type=Path)
    parser.add_argument(
        "--step", metavar="N[/ITERATION:STEP]", type=arguments.position, default=(0, ""),
        help="steps to take first; in a loop: iterations and steps of it besides"
    )  # fmt: skip
    parser.add_argument("--theme", metavar="T", choices=("light", "dark"), default="dark")
    parser.add_argument("--size", metavar="WxH", type=arguments.size, default=(1600, 1000))
    parser.add_argument(
        "--scale", metavar="F", type=arguments.scale, default=1.0, help="pixels per point"
    )
    parser.add_argument(
        "--profile", choices=("recorded", "fast"), help="measure such runs first, and show where "
        "the time goes"
    )  # fmt: skip
    parser.add_argument("--colour", choices=("time", "bytes"), help="tint the nodes by that")
    for name, metavar, words in LISTS:
        parser.add_argument(name, metavar=metavar, action="append", default=[], help=words)


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Write the picture. Raises GradstepError before a window is made for a bad file."""
    if args.out.suffix.lower() != ".png":
        suffix = args.out.suffix or "a file without a suffix"
        raise usage(f"a shot is a .png, not {suffix}", f"write {args.out.with_suffix('.png')}")
    path = None if args.file == START else Path(args.file)
    if path is not None:
        read(path)
    step, inside = args.step
    names = ("theme", "size", "scale", "select", "show", "compare", "profile", "colour")
    look = {name: getattr(args, name) for name in names}
    app.shot(path, args.out, step=step, inside=inside, **look)
    return Answer({"shot": str(args.out)}, f"wrote {args.out}")
