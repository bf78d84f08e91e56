"""One run of a sweep, made in a process of its own: a training with settings put in."""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.data_args import read_data
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.command_line import verb_parser
from gradstep.core.cli.runs.training_steps import Training, ask_for, require_work
from gradstep.core.cli.train import step_count
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.document.placeholder_substitution import with_feeds
from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.work_link import link, stopped
from gradstep.core.io.checkpoint_files import CheckpointFolder
from gradstep.core.io.checkpoints.training_state import Checkpoint
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.program.questions.loaded_document import Loaded, start
from gradstep.core.program.questions.run_choice import Values
from gradstep.core.protocol.error_records import info_of
from gradstep.core.sweep.run_list import RunSpec
from gradstep.core.sweep.run_seed import with_seed
from gradstep.core.sweep.setting_targets import BATCH, apply_settings, row_count
from gradstep.core.sweep.sweep_folder import Point, every
from gradstep.core.sweep.sweep_records import RunRow

LOOK = 50  # steps after which it is looked whether to end
_INTERVAL = 0.2  # seconds between two reports


class RunOrder(msgspec.Struct, frozen=True, kw_only=True):
    """file: the document; document: its bytes, for a machine that does not have it. arguments: of
    training, as a folder has them; what the document's Python may do is not for them to say. trust,
    sandbox, code: that, as the user said it. keep: folder for what it ends with; "" for nowhere."""

    spec: RunSpec
    file: str
    arguments: list[str]
    trust: bool = False
    sandbox: bool = False
    code: str | None = None
    keep: str = ""
    document: bytes = b""


def make_run(order: Any) -> Any:
    """order: a RunOrder, as plain data; the row that comes of it, likewise. It reports `points` and
    how far it is. A training that fails is a row with its error. Raises GradstepError when it is
    to end."""
    wanted = msgspec.convert(order, RunOrder)
    seen = _Seen()
    error: GradstepError | None = None
    try:
        _train(wanted, seen)
    except GradstepError as caught:
        if link().is_stopped():
            raise stopped() from None
        error = caught
    finally:
        seen.send()
    spec = wanted.spec
    return msgspec.to_builtins(
        RunRow(
            number=spec.number,
            values=spec.values,
            seed=spec.seed,
            error=None if error is None else info_of(error),
            **seen.figures,
        )
    )


class _Seen:
    """What is known of the losses so far. total: steps that are wanted; every: each how many are
    kept."""

    def __init__(self) -> None:
        self.total, self.every = 0, 1
        self.steps, self.loss, self.best, self.best_step = 0, math.nan, math.inf, 0
        self.validation: float | None = None
        self.ended = ""
        self._points: list[Point] = []
        self._began = time.monotonic()
        self._due = time.monotonic() + _INTERVAL

    @property
    def figures(self) -> Mapping[str, Any]:
        """The numbers of the run, as they stand in a row."""
        return {
            "steps": self.steps,
            "loss": self.loss if math.isfinite(self.loss) else None,
            "best": self.best if math.isfinite(self.best) else None,
            "best_step": self.best_step,
            "validation": self.validation,
            "ended": self.ended,
            "seconds": round(time.monotonic() - self._began, 3),
        }

    def expect(self, steps: int) -> None:
        """So many steps will be made."""
        self.total, self.every = steps, every(steps)
        self._began = time.monotonic()  # what was imported until then is nobody's

    def add(self, step: int, loss: float, is_last: bool) -> None:
        """One has been made."""
        self.steps, self.loss = step, loss
        if loss < self.best:
            self.best, self.best_step = loss, step
        if step == 1 or is_last or step % self.every == 0:
            self._points.append((step, loss))
        if time.monotonic() >= self._due:  # of a long run there may be no new point for minutes
            self.send()

    def send(self) -> None:
        """Report what is new."""
        points, self._points = self._points, []
        self._due = time.monotonic() + _INTERVAL
        link().report({"points": points, "step": self.steps, "total": self.total})


def _train(order: RunOrder, seen: _Seen) -> None:
    with tempfile.TemporaryDirectory() if order.document else _Nowhere() as folder:
        args = _arguments(order, folder)
        loaded = _with_settings(load(args), order.spec)
    data = read_data(loaded.document, args)
    if data is not None:
        feeds = data.training.feeds_at(0)
        loaded = replace(loaded, document=with_feeds(loaded.document, feeds))
    seen.expect(step_count(args, data))
    training = _training(loaded, args, data)
    _step(training, seen)
    if data is not None and data.validation is not None:
        losses = training.validate(data.validation)
        seen.validation = next(iter(losses.values()), None)
    if order.keep:
        _keep(training, seen, order.keep)


def _step(training: Training, seen: _Seen) -> None:
    asked = link().is_stopped
    while training.done < seen.total and not training.ended:
        if training.done % LOOK == 0 and asked():
            raise stopped()
        values, _ = training.step()
        is_last = training.ended or training.done == seen.total
        seen.add(training.done, _loss(values), is_last)
    if training.ended and training.done < seen.total:
        seen.ended = "its condition held"


def _arguments(order: RunOrder, folder: str) -> argparse.Namespace:
    """Those of the training, as the settings that are no part of a document have them."""
    file = order.file
    if order.document:
        file = str(Path(folder, "document.gradstep"))
        replace_file(file, order.document)
    args = verb_parser("train").parse_args([*order.arguments, "--", file])
    args.trust, args.sandbox, args.code = order.trust, order.sandbox, order.code
    spec = order.spec
    if BATCH in spec.values and args.data:
        args.batch = row_count(spec.values[BATCH])
    if spec.seed is not None and args.shuffle is not None:
        args.shuffle += spec.seed
    return args


def _with_settings(loaded: Loaded, spec: RunSpec) -> Loaded:
    document = loaded.document
    if spec.seed is not None:
        document = with_seed(document, spec.seed)
    return replace(loaded, document=apply_settings(document, spec.values, spec.seed))


def _training(loaded: Loaded, args: argparse.Namespace, data: OpenedData | None) -> Training:
    backend = open_devices(args, link().devices(), loaded.document)
    what = ask_for(loaded, args.fetch)
    require_work(what)
    layout = shared_arguments.layout(args)
    session = start(loaded, what.program.graph, backend, what.program.initial, **layout)
    rows = None if data is None else data.training
    return Training(loaded, session, what, data=rows, until=args.until)


def _keep(training: Training, seen: _Seen, folder: str) -> None:
    """Leave what it ended with, where that is arrays."""
    try:
        state = training.state()
    except GradstepError:
        return  # a queue, which no file holds
    CheckpointFolder(folder, 1).add(Checkpoint(seen.steps, seen.loss, state))


def _loss(values: Values) -> float:
    """The first of them; the sum of its elements, where it has several."""
    first = next(iter(values.values()), None)
    return math.nan if first is None else float(np.sum(first).real)


class _Nowhere:
    """A folder that is not needed."""

    def __enter__(self) -> str:
        return ""

    def __exit__(self, *_: object) -> None: ...
