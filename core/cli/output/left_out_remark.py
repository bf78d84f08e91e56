"""Saying beside the answer what a file that was written is without."""

from __future__ import annotations

from collections.abc import Collection

from gradstep.core.cli.output.command_output import warn
from gradstep.core.errors import GradstepError
from gradstep.core.io.left_out import left_out_sentence


def remark(name: str, lacks: Collection[str]) -> None:
    """On standard error, that the file `name` is without these parts; nothing where it has all."""
    if lacks:
        warn(GradstepError(left_out_sentence(name, lacks), hint="a .gradstep file has all of it"))
