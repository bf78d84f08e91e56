"""What a training that is followed says, line by line: who it is, its steps, files it saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.errors import GradstepError

VERSION = 1
LONGEST = 1 << 16  # bytes of a line
MOST_LAYERS = 64  # of which one training tells
MOST_STEP = 10**12
LONGEST_TEXT = 4096  # characters; of a path


@dataclass(frozen=True)
class Greeting:
    """The first line. script: what runs, "notebook" or ""; step: how far it is."""

    title: str
    script: str
    pid: int
    torch: str
    step: int

    @property
    def name(self) -> str:
        """What to call it: the script by its file's name, else by what is trained."""
        return self.script.replace("\\", "/").rpartition("/")[2] or self.title or "a training"


@dataclass(frozen=True)
class TrainedStep:
    """A step after its backward pass, counted from 1. gradient, weight: norms by layer; empty where
    there was no time for them, or nobody who followed."""

    step: int
    loss: float
    gradient: Mapping[str, float] = field(default_factory=dict)
    weight: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SavedStep:
    """A step that was written to a file. why: the condition that held, or ""."""

    path: str
    step: int
    why: str


@dataclass(frozen=True)
class EndOfTraining:
    """The loop is over. error: the name of the exception that ended it, or ""."""

    step: int
    error: str


TrainingLine = Greeting | TrainedStep | SavedStep | EndOfTraining


def read_line(line: bytes) -> TrainingLine:
    """Raises GradstepError for what is no line of a training."""
    if len(line) > LONGEST:
        raise _malformed(f"a line of more than {LONGEST:,} bytes")
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        raise _malformed(f"{_quoted(line)} is no JSON") from None
    if not isinstance(said, dict):
        raise _malformed(f"{_quoted(line)} is no JSON object")
    for key, read in _READERS.items():
        if key in said:
            return read(said)
    raise _malformed(f"{_quoted(line)} is none of its lines")


def _greeting(said: Mapping[str, Any]) -> Greeting:
    version = _step(said, "version")
    if version != VERSION:
        raise GradstepError(
            f"the training speaks version {version} of what is followed, this Gradstep {VERSION}",
            kind="ValueError",
            hint="save the exporter anew: gradstep capture torch",
        )
    title, script, torch = (_text(said, key) for key in ("title", "script", "torch"))
    return Greeting(title, script, _step(said, "pid"), torch, _step(said, "step"))


def _trained(said: Mapping[str, Any]) -> TrainedStep:
    norms = (_norms(said, key) for key in ("gradient", "weight"))
    return TrainedStep(_step(said, "step", 1), _number(said.get("loss"), "loss"), *norms)


def _saved(said: Mapping[str, Any]) -> SavedStep:
    return SavedStep(_text(said, "saved"), _step(said, "step"), _text(said, "why"))


def _ended(said: Mapping[str, Any]) -> EndOfTraining:
    return EndOfTraining(_step(said, "ended"), _text(said, "error"))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], TrainingLine]] = {
    "gradstep": _greeting,
    "saved": _saved,
    "ended": _ended,
    "step": _trained,
}


def _step(said: Mapping[str, Any], key: str, least: int = 0) -> int:
    value = said.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_STEP:
        raise _malformed(f'"{key}" is no whole number from {least} on')
    return value


def _text(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise _malformed(f'"{key}" is no text')
    return value


def _norms(said: Mapping[str, Any], key: str) -> dict[str, float]:
    value = said.get(key, {})
    if not isinstance(value, dict) or len(value) > MOST_LAYERS:
        raise _malformed(f'"{key}" is no table of up to {MOST_LAYERS} layers')
    return {layer: _number(number, key) for layer, number in value.items()}


def _number(value: Any, key: str) -> float:
    """JSON has no NaN, but Python's has: NaN, Infinity, -Infinity."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise _malformed(f'"{key}" is no number')


def _quoted(line: bytes) -> str:
    text = line[:40].decode("utf-8", "backslashreplace").strip()
    return f"'{text}{'…' if len(line) > 40 else ''}'"


def _malformed(what: str) -> GradstepError:
    return GradstepError(
        f"what came is no training that can be followed: {what}", kind="ValueError"
    )
