"""Standard input and output as the pipes between two processes."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO


def take_over_stdio() -> tuple[BinaryIO, BinaryIO]:
    """The streams to whoever started this process, on descriptors of their own; 0 becomes empty
    and 1 becomes 2."""
    sys.stdout.flush()
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it lives as long as the process
    return requests, answers
