"""Curves of TensorBoard's event files, listed, or one of them as CSV."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.output.command_output import table
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.event_curves import EventCurve, EventRun, read_event_runs

_HEADER = ("tag", "points", "steps", "first", "last", "least", "greatest")


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """A line for each curve; with --tag, `run,step,value` of the curves of that name."""
    runs = read_event_runs(Path(args.path), budget(args))
    for note in (note for run in runs for note in run.notes):
        print(f"gradstep: {note}", file=sys.stderr)
    if args.tag:
        return _points(runs, args.tag)
    data = {"runs": [_object(run) for run in runs]}
    return Answer(data, "\n".join(_lines(runs)))


def _points(runs: Sequence[EventRun], tag: str) -> Answer:
    there = [(run.name, run.curves[tag]) for run in runs if tag in run.curves]
    if not there:
        known = dict.fromkeys(name for run in runs for name in run.curves)
        raise GradstepError(f"there is no curve '{tag}'", kind="KeyError", hint=instead(tag, known))
    data = {"tag": tag, "runs": [{"run": name, **_curve(curve)} for name, curve in there]}
    lines = [
        f"{name},{step},{number!r}"
        for name, curve in there
        for step, number in zip(curve.steps, curve.numbers, strict=True)
    ]
    return Answer(data, "\n".join(["run,step,value", *lines]))


def _lines(runs: Sequence[EventRun]) -> Iterator[str]:
    for run in runs:
        if len(runs) > 1:
            yield run.name
        rows = [_row(tag, curve) for tag, curve in sorted(run.curves.items())]
        yield table(rows, _HEADER) if rows else "no curves"
        if run.other:
            said = ", ".join(
                f"{count} {kind}" for kind, count in sorted(run.other.items()) if count
            )
            yield f"not shown: {said}" if said else ""


def _row(tag: str, curve: EventCurve) -> list[str]:
    numbers, steps = curve.numbers, curve.steps
    shown = (numbers[0], numbers[-1], min(numbers), max(numbers))
    return [tag, str(len(steps)), f"{steps[0]}–{steps[-1]}", *(f"{n:.6g}" for n in shown)]


def _object(run: EventRun) -> dict[str, Any]:
    curves = [{"tag": tag, **_curve(curve)} for tag, curve in sorted(run.curves.items())]
    return {"run": run.name, "curves": curves, "other": dict(run.other), "notes": run.notes}


def _curve(curve: EventCurve) -> dict[str, Any]:
    return {"steps": curve.steps, "values": curve.numbers}
