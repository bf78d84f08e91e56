"""Following a watched PyTorch training from the terminal: a line for each of its steps."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gradstep.core.capture.training_connection import find_trainings, hear_training
from gradstep.core.capture.training_lines import (
    EndOfTraining,
    Greeting,
    SavedStep,
    TrainedStep,
    TrainingLine,
)
from gradstep.core.capture.training_sockets import pid_of
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.output.command_output import finite, print_json, table
from gradstep.core.errors import GradstepError

_HINT = "one inside `with gradstep.watch(model, loss=…)` can be"
_HEADER = ("process", "script", "model", "step")


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Until it ends; the list where nothing is said and there are several. Raises GradstepError
    where there is none."""
    if args.list:
        return _listed(find_trainings())
    if args.training and not args.training.isdigit():
        return _follow(Path(args.training), args.json)
    found = find_trainings()
    chosen = [path for path, _ in found if args.training in (None, str(pid_of(path)))]
    if not chosen:
        raise GradstepError(_none(args.training), kind="LookupError", hint=_HINT)
    return _follow(chosen[0], args.json) if len(chosen) == 1 else _listed(found)


def _none(pid: str | None) -> str:
    if pid is None:
        return "there is no training that can be followed"
    return f"process {pid} has no training that can be followed"


def _listed(found: list[tuple[Path, Greeting]]) -> Answer:
    rows = [(str(g.pid), g.name, g.title, f"{g.step:,}") for _, g in found]
    data = {"trainings": [{"socket": str(path), **asdict(g)} for path, g in found]}
    return Answer(data, table(rows, _HEADER) if rows else "no training can be followed now")


def _follow(path: Path, as_json: bool) -> Answer:
    """Each line as it comes, the last one as the answer."""
    step = 0
    for line in hear_training(path):
        if isinstance(line, EndOfTraining):
            return Answer(_object(line), _words(line), int(bool(line.error)))
        if as_json:
            print_json(finite(_object(line)))
        else:
            print(_words(line), flush=True)
        step = line.step
    data = {"ended": step, "error": "gone"}
    return Answer(
        data, f"gone without a word, at step {step}: it was killed, or this was too slow", 1
    )


def _object(line: TrainingLine) -> dict[str, Any]:
    """As the training said it, but for what JSON cannot hold."""
    if isinstance(line, Greeting):
        return {"gradstep": "watch", **asdict(line)}
    if isinstance(line, SavedStep):
        return {"saved": line.path, "step": line.step, "why": line.why}
    if isinstance(line, EndOfTraining):
        return {"ended": line.step, "error": line.error}
    return asdict(line)


def _words(line: TrainingLine) -> str:
    if isinstance(line, Greeting):
        return f"{line.name} ({line.title}), process {line.pid}, PyTorch {line.torch}"
    if isinstance(line, TrainedStep):
        parts = [f"step {line.step}  loss {line.loss:.6g}"]
        parts += [_norms("gradient", line.gradient), _norms("weight", line.weight)]
        return "  ".join(filter(None, parts))
    if isinstance(line, SavedStep):
        why = f", where {line.why}" if line.why else ""
        return f"step {line.step} is saved{why}: {line.path}"
    by = f", by {line.error}" if line.error else ""
    return f"ended{by}, at step {line.step}"


def _norms(words: str, norms: Mapping[str, float]) -> str:
    return " ".join([words, *(f"{layer} {x:.4g}" for layer, x in norms.items())]) if norms else ""
