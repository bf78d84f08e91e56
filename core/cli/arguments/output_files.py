"""Files that commands write: what is named is written over, but for the document that is read."""

from __future__ import annotations

import argparse
from pathlib import Path

from gradstep.core.cli.output.command_output import usage


def require_other_file(args: argparse.Namespace, *options: str) -> None:
    """Raises GradstepError (UsageError) for the first of these options that names the document
    itself, unless --overwrite says that it may."""
    for option in options:
        named = getattr(args, option, None)
        if named and _same(Path(named), args.file) and not getattr(args, "overwrite", False):
            more = ", or say --overwrite" if hasattr(args, "overwrite") else ""
            raise usage(f"--{option} {named} is the document itself", f"write another file{more}")


def _same(path: Path, file: str) -> bool:
    return path.exists() and Path(file).exists() and path.samefile(file)
