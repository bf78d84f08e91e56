"""Train: run the document's updates N times, fast, up to a failure or a loss that is not finite.

TensorBoard reads what --logdir gets: the summaries that a run of the document computes, or else the
losses. The document's threads do not run (`gradstep run --threads --runs N` lets them).
"""

from __future__ import annotations

import argparse
import shlex
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.data_args import read_data
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.arguments.optimizer_args import with_settings
from gradstep.core.cli.command_table import LINES, STEPS
from gradstep.core.cli.output.command_output import (
    error_object,
    kernel_lines,
    print_line,
    report_error,
    require_json,
    tensor_object,
    tensor_text,
    usage,
)
from gradstep.core.cli.output.event_log import EventLog
from gradstep.core.cli.output.placement_text import placement_lines, placement_object
from gradstep.core.cli.output.said_problems import say_problems
from gradstep.core.cli.output.terminal_text import terminal_itself
from gradstep.core.cli.run import device_object, rounding_line
from gradstep.core.cli.runs import save_trained
from gradstep.core.cli.runs.training_checkpoints import TrainingCheckpoints, read_checkpoints
from gradstep.core.cli.runs.training_steps import Training, ask_for, require_work
from gradstep.core.cli.runs.training_towers import open_towers
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.debug.breaks.patience import Patience
from gradstep.core.document.placeholder_substitution import with_feeds
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.process.interrupt import on_interrupt
from gradstep.core.program.questions.loaded_document import start
from gradstep.core.program.questions.run_choice import Values

_INTERRUPTED = 130  # exit status, as shells have it
Validated = dict[str, Any]  # epoch, step, and losses by name


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """What the losses were in the steps that are shown, and how it ended: exit status 1 for a
    step that failed, 130 for Ctrl+C."""
    require_json(args)
    layout = shared_arguments.layout(args)
    saving = save_trained.read_saving(args)
    loaded = load(args)
    loaded = replace(loaded, document=with_settings(loaded.document, args))
    data = read_data(loaded.document, args)
    if data is not None:  # what a batch is, is known before anything is derived
        first = data.training.feeds_at(0)
        loaded = replace(loaded, document=with_feeds(loaded.document, first))
    args.steps = step_count(args, data)
    backend = open_devices(args, app.devices(), loaded.document)
    what = ask_for(loaded, args.fetch)
    say_problems(what.program.problems)
    require_work(what)
    session = start(loaded, what.program.graph, backend, what.program.initial, **layout)
    with ExitStack() as stack:
        towers = stack.enter_context(open_towers(args, loaded, what, session, data))
        training = Training(
            loaded,
            session,
            what,
            summaries=bool(args.logdir) and towers is None,
            keep=bool(saving),
            data=None if data is None else data.training,
            until=args.until,
            compute=None if towers is None else towers.step,
        )
        checkpoints = read_checkpoints(args, training, data)
        log = stack.enter_context(EventLog(args.logdir, loaded, what)) if args.logdir else None
        progress = stack.enter_context(_Progress(args, log, checkpoints, data))
        error = _train(training, progress, data)
        if error is None and data is not None and data.test is not None:
            progress.add_test(training.validate(data.test))
    if saving is not None:
        saving.write(training.variables())
    return _answer(args, session, progress, error)


def step_count(args: argparse.Namespace, data: OpenedData | None) -> int:
    """How many steps are made. Raises GradstepError where that is said twice."""
    if args.steps and args.epochs:
        raise usage("--steps and --epochs both say when to end", "leave one of them away")
    if data is None or args.steps or (args.data and not args.epochs):
        return args.steps or STEPS
    return data.dataset.epochs * data.per_epoch


def _answer(
    args: argparse.Namespace, session: Session, progress: _Progress, error: GradstepError | None
) -> Answer:
    data = {
        "steps": progress.done,
        "shown": progress.shown,
        "validation": progress.validation,
        "test": progress.test,
        "events": progress.log and progress.log.path,
        "out": args.out,
        "resumed": progress.resumed,
        "until": progress.holds,
        "stopped": progress.stopped or ("interrupted" if progress.more and not error else ""),
        "checkpoint": progress.checkpoint,
        "rounding": session.rounding,
        "kernels": session.computed_by,
        "device": device_object(session.backend),
    }
    if placed := placement_object(session.backend):
        data["transfers"] = placed
    status = _INTERRUPTED if progress.more else 0
    if error is not None:
        look = "" if error.kind == "FileError" else _where_to_look(args, progress.done)
        error.hint = "; ".join(filter(None, [error.hint, look]))
        data["error"] = error_object(error)
        status = 1 if args.json else report_error(error, as_json=False)
    return Answer(data, "\n".join(_notes(args, session, progress)), status)


def _notes(args: argparse.Namespace, session: Session, progress: _Progress) -> Iterator[str]:
    """For people, how far it got, what was written, and what computed it."""
    if progress.resumed:
        yield f"went on after step {progress.resumed}{progress.resumed_with}"
    if progress.more or progress.holds or progress.stopped:
        why = f": {args.until} holds" if progress.holds else ""
        why = why or (f": {progress.stopped}" if progress.stopped else "")
        yield f"ended after step {progress.done} of {args.steps}{why}"
    if progress.log is not None:
        yield f"events: {progress.log.path}"
        yield from progress.log.notes
    if progress.checkpoint is not None:
        yield f"checkpoint: {progress.checkpoint}"
    if args.out is not None:
        yield f"wrote {args.out}: the variables as they are after step {progress.done}"
    yield from kernel_lines(session.computed_by)
    yield from map(rounding_line, session.rounding)
    yield from placement_lines(session.backend)
    if not session.backend.measured:
        yield f"emulated: {session.backend.source}"


class _Progress:
    """What is shown of the steps while they are made, and logged. On a terminal there is a bar."""

    def __init__(
        self,
        args: argparse.Namespace,
        log: EventLog | None,
        checkpoints: TrainingCheckpoints | None,
        data: OpenedData | None,
    ) -> None:
        self.shown: list[dict[str, object]] = []
        self.validation: list[Validated] = []
        self.test: dict[str, float] = {}
        self._total: int = args.steps
        self._every = args.every or max(1, args.steps // LINES)
        self._each_epoch = 1 if data is None else max(1, self._every // data.per_epoch)
        self._unshown: Validated | None = None  # the last one, where it is not time to
        self._prints, self._lines = not args.json, args.lines
        self.log = log
        self._checkpoints = checkpoints
        self.resumed = 0 if checkpoints is None else checkpoints.resumed
        self.resumed_with = "" if checkpoints is None else checkpoints.resumed_with
        self._last: tuple[int, Values] = (self.resumed, {})
        self.holds, self._is_over = False, self.resumed >= self._total
        self._patience = Patience(args.patience, "epoch" if args.validate else "step")
        self._judges_steps, self.stopped = bool(args.patience) and not args.validate, ""
        self._bar = tqdm(
            total=args.steps,
            initial=self.resumed,
            unit="step",
            file=terminal_itself(sys.stderr),
            disable=True if args.json else None,  # None: where that is no terminal
            leave=False,
        )

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    @property
    def done(self) -> int:
        """How many steps have been made."""
        return self._last[0]

    @property
    def checkpoint(self) -> str | None:
        """The path of the newest one that was written; None where none was."""
        newest = None if self._checkpoints is None else self._checkpoints.newest
        return None if newest is None else str(newest)

    @property
    def more(self) -> bool:
        """Whether there are steps to be made."""
        return not self._is_over

    def add(self, step: int, values: Values, summaries: list[bytes], holds: bool) -> None:
        """Log a step, and show it when it is time to. holds: what ends the training before."""
        self._last, self.holds = (step, values), holds
        if self._judges_steps:
            self.stopped = self._patience.ends(step - 1, _first(values))
        self._is_over = holds or bool(self.stopped) or step == self._total
        self._bar.update()
        if self.log is not None:
            self.log.add(step, values, summaries)
        if self._checkpoints is not None:
            self._checkpoints.note(step, values, self._is_over)
        if step == 1 or self._is_over or step % self._every == 0:
            self._show()

    def add_validation(self, epoch: int, losses: Mapping[str, float]) -> None:
        """Show what the losses are over the rows that are held back, after so many epochs."""
        if self.log is not None:
            held = {f"validation/{name}": np.array(loss) for name, loss in losses.items()}
            self.log.add(self.done, held, [])
        self.stopped = self._patience.ends(epoch - 1, next(iter(losses.values()), np.nan))
        self._is_over = self._is_over or bool(self.stopped)
        self._unshown = {"epoch": epoch, "step": self.done, "losses": dict(losses)}
        if epoch == 1 or self._is_over or epoch % self._each_epoch == 0:
            self._show_validation(self._unshown)

    def _show_validation(self, shown: Validated) -> None:
        self._unshown = None
        self.validation.append(shown)
        if self._lines:
            print_line(shown)
        if self._prints:
            losses = shown["losses"].items()
            said = "  ".join(f"validation {name} {loss:.6g}" for name, loss in losses)
            self._print(f"epoch {shown['epoch']}  {said}")

    def add_test(self, losses: Mapping[str, float]) -> None:
        """Show what the losses are over the rows to test on."""
        self.test = dict(losses)
        if self.log is not None:
            held = {f"test/{name}": np.array(loss) for name, loss in losses.items()}
            self.log.add(self.done, held, [])
        if self._prints:
            self._print("  ".join(f"test {name} {loss:.6g}" for name, loss in losses.items()))

    def end(self, is_interrupted: bool) -> None:
        """Show the last step if that has not been done, and keep it where it is not the last that
        was wanted."""
        if (is_interrupted or self.stopped) and self._checkpoints is not None and self._last[1]:
            self._checkpoints.note(*self._last, is_last=True)
        if self._last[1] and (not self.shown or self.shown[-1]["step"] != self.done):
            self._show()
        if self._unshown is not None:
            self._show_validation(self._unshown)

    def _show(self) -> None:
        step, values = self._last
        objects = {name: tensor_object(value) for name, value in values.items()}
        self.shown.append({"step": step, "values": objects})
        if self._lines:
            print_line(self.shown[-1])
        if self._prints:
            number = str(step).rjust(len(str(self._total)))
            line = "  ".join([f"step {number}", *map(_text, values.items())])
            self._print(line)

    def _print(self, line: str) -> None:
        """A line above the bar."""
        self._bar.clear()
        print(line, flush=True)
        self._bar.refresh()


def _train(
    training: Training, progress: _Progress, data: OpenedData | None
) -> GradstepError | None:
    """Make steps up to the last, or Ctrl+C, or the error that is returned."""
    stop = threading.Event()
    try:
        with on_interrupt(stop.set):
            while progress.more and not stop.is_set():
                values, summaries = training.step()
                progress.add(training.done, values, summaries, training.ended)
                if data is not None and data.validation is not None:
                    epoch, rest = divmod(training.done, data.training.batches_per_epoch)
                    if not rest:
                        progress.add_validation(epoch, training.validate(data.validation))
    except GradstepError as error:
        return error
    finally:
        progress.end(stop.is_set())
    return None


def _first(values: Values) -> float:
    """The first loss; the sum of its elements, where it has several."""
    loss = next(iter(values.values()), None)
    return np.nan if loss is None or kind_of(loss.dtype) not in "fiu" else float(np.sum(loss))


def _text(item: tuple[str, np.ndarray | None]) -> str:
    name, value = item
    number = value is not None and value.ndim == 0 and value.dtype != object
    return f"{name} {str(value) if number else tensor_text(value)}"


def _where_to_look(args: argparse.Namespace, done: int) -> str:
    """How the debugger shows the step after `done`; "" for batches, which it is not given."""
    if args.data or (args.optimizer and args.of and not args.out):
        return ""  # the debugger would have another loss
    words = ["gradstep", "debug", args.out or args.file]
    words += ["--trust"] if args.trust else []
    words += ["--sandbox"] if args.sandbox else []
    words += ["--feed", *args.feed] if args.feed else []
    words += ["--allow-nan"] if args.allow_nan else []
    words += ["--init", args.init] if args.init else []
    words += ["--optimizer", args.optimizer] if args.optimizer and not args.out else []
    words += ["--restore", args.restore] if args.restore and not args.out else []
    words += ["--device", args.device] if args.device != "cpu" else []
    there = f", then run_to {done}:0," if done and not args.out else ""
    return f"`{shlex.join(words)}`{there} stands before this step"
