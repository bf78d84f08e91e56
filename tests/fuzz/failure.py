"""What went wrong in a case: its kind, the place in the project, and Python's words."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_OURS = ("core", "gui", "gpu")


class CodeRunError(Exception):
    """A document's Python ran that was not trusted."""


class LostError(Exception):
    """What was saved is not what was there."""


class HangError(BaseException):
    """A case took more processor time than it may."""


_KINDS = {CodeRunError: "code_run", LostError: "lost", HangError: "hang"}


@dataclass(frozen=True)
class Failure:
    """kind: "internal", "hang", "crash", "lost" or "code_run"; place: the innermost function of the
    project on the way ("core/io/native/npy.py:read"); error: Python's name of it; words: its
    own."""

    kind: str
    place: str
    error: str
    words: str = ""

    @property
    def key(self) -> str:
        """Failures with the same key are one."""
        return f"{self.kind} {self.place} {self.error if self.kind == 'internal' else ''}".strip()


def failure_of(error: BaseException) -> Failure:
    """`error`, raised by a case."""
    kind = next((name for type, name in _KINDS.items() if isinstance(error, type)), "internal")
    chained = error.__cause__ or error if kind == "lost" else error
    words = str(error).partition("\n")[0][:200]
    return Failure(kind, _place(chained), type(error).__name__, words)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in _OURS:
            return f"{path.relative_to(ROOT).as_posix()}:{frame.name}"
    return frames[-1].name if frames else ""
