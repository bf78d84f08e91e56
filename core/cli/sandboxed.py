"""A command whose document's Python runs without network and files, but those that it names."""

from __future__ import annotations

import argparse
import glob
import os
import re
from collections.abc import Iterator

from gradstep.core.cli.output.command_output import usage
from gradstep.core.data.file_place import fixed_folder, split_place
from gradstep.core.errors import GradstepError
from gradstep.core.program import sandbox

_PART = re.compile(r"-(?:\d{5}|\?{5})-of-\d{5}$")  # of a checkpoint in several files


def works_elsewhere(verb: str, args: argparse.Namespace) -> bool:
    """Whether it is other processes that run the document's Python, which are confined then."""
    return verb == "sweep" or (verb == "check" and os.path.isdir(args.file))


def confine_command(verb: str, args: argparse.Namespace) -> None:
    """Confine this process, for good: it can read the files that the arguments name, and write into
    --logdir. To be called before anything heavy is imported. Raises GradstepError where the command
    would write elsewhere, or nothing can be confined here."""
    if verb == "expect" or getattr(args, "out", None):
        raise usage(
            "--sandbox lets nothing be written but --logdir",
            "leave --out away, or read the document's Python and pass --trust",
        )
    sandbox.ensure_clean()
    write = [*_made(getattr(args, "logdir", None))]
    sandbox.confine(profile_of(args), named_files(args), write)


def profile_of(args: argparse.Namespace) -> sandbox.Profile:
    """What the devices that are named need."""
    devices = (getattr(args, "device", ""), getattr(args, "against", ""))
    on_gpu = any(name.startswith("gpu") for name in devices)
    return sandbox.Profile.GPU if on_gpu else sandbox.Profile.ENGINE


def named_files(args: argparse.Namespace) -> Iterator[str]:
    """The files that the arguments have read."""
    yield args.file
    for name in ("code", "script"):
        yield getattr(args, name, None) or ""
    yield from _checkpoint(getattr(args, "restore", None))
    for given in (*getattr(args, "feed", ()), *getattr(args, "data", ())):
        value = given.partition("=")[2].partition("|")[0].strip()
        if value.startswith("@"):
            yield from _checkpoint(fixed_folder(split_place(value[1:])[0]))


def _checkpoint(path: str | None) -> Iterator[str]:
    """A file or folder, and the files whose names begin so."""
    if path is None:
        return
    yield path
    prefix = _PART.sub("", path.removesuffix(".index"))
    yield from glob.glob(f"{glob.escape(prefix)}.index")
    yield from glob.glob(f"{glob.escape(prefix)}.data-*")
    yield from glob.glob(f"{glob.escape(prefix)}-?????-of-?????")


def _made(folder: str | None) -> Iterator[str]:
    """The folder, which has to be there."""
    if folder is None:
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise GradstepError(
            f"cannot write {folder}: {error.strerror}", kind="FileError", hint="write elsewhere"
        ) from None
    yield folder
