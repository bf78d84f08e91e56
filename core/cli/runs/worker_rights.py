"""What the processes of a command may do: all, or what a sandbox leaves."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

from gradstep.core.cli.sandboxed import profile_of
from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.worker_messages import Begin
from gradstep.core.program import sandbox


def begin_workers(
    confined: bool,
    args: argparse.Namespace,
    read: Iterable[str | None] = (),
    write: Iterable[str] = (),
) -> Begin:
    """args: of what they do; read, write: what they may reach where they are confined. Raises
    GradstepError (UnavailableError) where that cannot be."""
    if not confined:
        return Begin()
    if reason := sandbox.why_not():
        raise GradstepError(
            f"nothing can be kept from network and files here: {reason}",
            kind="UnavailableError",
            hint="gradstep doctor says what this machine lacks for it",
        )
    readable = tuple(os.path.abspath(name) for name in read if name)
    writable = tuple(os.path.abspath(name) for name in write)
    return Begin(confined=True, profile=profile_of(args), read=readable, write=writable)
