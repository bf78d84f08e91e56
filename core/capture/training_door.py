"""A port of this machine at which a training can be followed, as the file tells that lies for it.

Whoever calls says the password first, which only its user can read, and is answered with another
word of that file: so both know with whom they speak.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from gradstep.core.capture.training_sockets import is_door
from gradstep.core.errors import GradstepError

HOST = "127.0.0.1"
_WORD = re.compile(r"[0-9a-f]{64}")
_LONGEST = 4096  # bytes of the file


@dataclass(frozen=True)
class TrainingDoor:
    """knock: what is said first; answer: what has to come back, both with their end of line."""

    port: int
    knock: bytes
    answer: bytes


def door_at(path: Path) -> TrainingDoor | None:
    """What a file tells of a port; None for a socket. Raises GradstepError for a file that is none,
    or that others can read."""
    if not is_door(path):
        return None
    try:
        _require_private(path)
        with path.open("rb") as file:
            told = json.loads(file.read(_LONGEST))
        port, words = told["port"], [told["password"], told["answer"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise _no_door(path) from None
    fits = isinstance(port, int) and 0 < port < 65536
    if not fits or not all(isinstance(word, str) and _WORD.fullmatch(word) for word in words):
        raise _no_door(path)
    knock, answer = (f"{word}\n".encode() for word in words)
    return TrainingDoor(port, knock, answer)


def not_the_training(path: Path) -> GradstepError:
    """Somebody else listens at its port."""
    return GradstepError(
        f"what listens at the port that {path} tells of is not the training",
        kind="ConnectionError",
        hint="the training has ended, perhaps: gradstep follow --list says who is there",
    )


def _require_private(path: Path) -> None:
    found = path.lstat()
    mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    closed = not hasattr(os, "geteuid") or not stat.S_IMODE(found.st_mode) & 0o077
    if not (mine and closed):
        raise GradstepError(
            f"{path} can be read by others, so whoever listens may be somebody else",
            kind="PermissionError",
            hint="remove it, and start the training again",
        )


def _no_door(path: Path) -> GradstepError:
    return GradstepError(f"{path} tells of no port to follow a training at", kind="ValueError")
