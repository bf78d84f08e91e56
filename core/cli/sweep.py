"""Sweep: train with many settings and seeds, several at a time, and compare what comes of them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
from tqdm import tqdm

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.argument_words import words_of
from gradstep.core.cli.arguments.optimizer_args import with_optimizer
from gradstep.core.cli.arguments.restore_args import with_restored
from gradstep.core.cli.arguments.shared_arguments import budget, require_with
from gradstep.core.cli.command_line import verb_parser
from gradstep.core.cli.command_table import STEPS
from gradstep.core.cli.output.command_output import print_line, require_json, usage
from gradstep.core.cli.output.sweep_text import besides, run_words, sweep_table
from gradstep.core.cli.output.terminal_text import terminal_itself
from gradstep.core.cli.runs.sweep_campaign import Campaign
from gradstep.core.cli.runs.sweep_run import RunOrder
from gradstep.core.cli.runs.sweep_workers import open_workers
from gradstep.core.document.document import Document
from gradstep.core.document.placement_edits import place_as_written
from gradstep.core.host.process.interrupt import on_interrupt
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.sweep.run_list import RunSpec, grid, sample
from gradstep.core.sweep.run_seed import is_seeded
from gradstep.core.sweep.setting_syntax import Setting, parse_setting
from gradstep.core.sweep.setting_targets import check_settings
from gradstep.core.sweep.sweep_folder import SweepFolder
from gradstep.core.sweep.sweep_records import VERSION, RunRow, SweepRecord, best_of

_INTERRUPTED = 130  # exit status, as shells have it
_OWN = ("set", "optimizer", "of", "place", "seeds", "sample", "seed", "workers", "cluster",
        "tls_ca", "tls_cert", "tls_key", "out", "resume", "restore", "end_with_input",
        "lines", "json", "help", "timeout")  # fmt: skip
_ABOUT_PYTHON = ("trust", "sandbox", "code")  # said anew each time, and never read from a folder
_WITHOUT_RESUME = ("optimizer", "of", "place", "seeds", "sample", "seed", "restore", "out")


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """A row for each run; exit status 1 where none came to its end, 130 for Ctrl+C."""
    require_json(args)
    with ExitStack() as stack:
        folder = _folder(args, stack)
        stop, progress = threading.Event(), _Progress(args, folder)
        stack.callback(progress.close)
        campaign = Campaign(folder, progress.note)
        campaign.rows += [row for row in folder.rows() if row.is_final]
        progress.begin(campaign)
        if args.end_with_input:
            threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
        with on_interrupt(stop.set):
            workers = open_workers(args, folder, campaign.tell)
            campaign.make(_orders(args, folder, campaign.rows), workers, stop.is_set)
        progress.close()
        return _answer(args, folder, campaign, stop.is_set())


def _wait_for_end(stop: threading.Event) -> None:
    while sys.stdin.buffer.read(1):
        pass
    stop.set()


def _folder(args: argparse.Namespace, stack: ExitStack) -> SweepFolder:
    """That of --resume, or a new one: of --out, or for as long as this takes. Raises
    GradstepError."""
    if args.resume:
        for name in _WITHOUT_RESUME:
            require_with(args, "a new sweep", [name], "leave it away: --resume has it in DIR")
        if args.file or args.set:
            raise usage("--resume has the document and its settings in DIR", "leave them away")
        return SweepFolder.find(Path(args.resume))
    if args.file is None:
        raise usage("the document is missing", "write gradstep sweep FILE --set NAME=VALUES")
    document = with_restored(read(args.file, budget(args)), args)
    document = with_optimizer(place_as_written(document, args.place), args)
    record = _record(args, document)
    out = args.out or stack.enter_context(tempfile.TemporaryDirectory(prefix="gradstep-sweep-"))
    return SweepFolder.begin(Path(out), record, gradstep_file.to_bytes(document))


def _record(args: argparse.Namespace, document: Document) -> SweepRecord:
    """What is asked for. Raises GradstepError (UsageError)."""
    settings = tuple(map(parse_setting, args.set))
    if not settings and not args.seeds:
        raise usage("nothing varies", "write --set learning_rate=1e-4:1:log8, or --seeds 4")
    check_settings(document, settings, bool(args.data))
    if args.seeds and args.shuffle is None and not is_seeded(document, settings):
        raise usage(
            "--seeds would make the same run again: nothing here is random",
            "give a variable a generator, --set 'w=normal(0, 0.1)', or rows an order, --shuffle 1",
        )
    return SweepRecord(
        version=VERSION,
        source=args.file,
        arguments=words_of(verb_parser("sweep"), args, {*_OWN, *_ABOUT_PYTHON}),
        settings=[*settings],
        runs=[*_runs(args, settings)],
        steps=0 if args.epochs else args.steps or STEPS,
        data=bool(args.data),
    )


def _runs(args: argparse.Namespace, settings: Sequence[Setting]) -> Sequence[RunSpec]:
    seeds = range(1, (args.seeds or 0) + 1)
    if args.sample:
        return sample(settings, args.sample, args.seed or 0, seeds)
    require_with(args, "--sample", ["seed"], "say --sample N")
    return grid(settings, seeds)


def _orders(
    args: argparse.Namespace, folder: SweepFolder, rows: Sequence[RunRow]
) -> Iterator[RunOrder]:
    """The runs that are missing."""
    over = {row.number for row in rows}
    kept = bool(args.out or args.resume) and folder.record.data and not args.cluster
    for spec in folder.record.runs:
        if spec.number not in over:
            yield RunOrder(
                spec=spec,
                file=str(folder.document),
                arguments=folder.record.arguments,
                trust=args.trust,
                sandbox=args.sandbox,
                code=args.code and os.path.abspath(args.code),
                keep=os.path.abspath(folder.checkpoint(spec.number)) if kept else "",
                document=folder.document.read_bytes() if args.cluster else b"",
            )


class _Progress:
    """On a terminal, a bar of the runs; what fails is said as it does."""

    def __init__(self, args: argparse.Namespace, folder: SweepFolder) -> None:
        self._prints, self._campaign = not args.json, Campaign(folder, self.note)
        self._lines = args.lines
        self._bar = tqdm(
            total=len(folder.record.runs),
            unit="run",
            file=terminal_itself(sys.stderr),
            disable=True if args.json else None,  # None: where that is no terminal
            leave=False,
        )

    def begin(self, campaign: Campaign) -> None:
        """What is known before anything is made."""
        self._campaign = campaign
        self._bar.update(len(campaign.rows))

    def note(self, row: RunRow | None) -> None:
        """A run is over, or some are further than they were."""
        if row is None:
            self._bar.set_postfix_str(self._words(), refresh=False)
            self._bar.refresh()
            return
        self._bar.update()
        if self._lines:
            print_line(msgspec.to_builtins(row))
        if row.error is not None and self._prints:
            self._bar.clear()
            print(f"{run_words(row)} failed: {besides(row)}", file=sys.stderr, flush=True)
            self._bar.refresh()

    def _words(self) -> str:
        running = self._campaign.running.values()
        best = best_of(self._campaign.rows)
        steps = sum(run.step for run in running)
        said = [f"{len(running)} running, step {steps:,} of {sum(r.total for r in running):,}"]
        return ", ".join([*said, *([f"best {best.shown_loss:.6g}"] if best else [])])

    def close(self) -> None:
        self._bar.close()


def _answer(
    args: argparse.Namespace, folder: SweepFolder, campaign: Campaign, was_stopped: bool
) -> Answer:
    rows, total = sorted(campaign.rows, key=lambda row: row.number), len(folder.record.runs)
    best, out = best_of(rows), args.out or args.resume
    data = {
        "runs": total,
        "rows": [msgspec.to_builtins(row) for row in rows],
        "best": None if best is None else best.number,
        "out": out,
        "stopped": was_stopped,
    }
    lines = [sweep_table(folder.record, rows)] if rows else []
    if best is not None:
        lines.append(f"best: {run_words(best)}, loss {best.shown_loss:.6g}")
    if len(rows) < total:
        lines.append(f"{len(rows)} of {total} runs are over" + _way_on(out))
    elif out:
        lines.append(f"kept in {out}")
    status = _INTERRUPTED if was_stopped and len(rows) < total else int(best is None)
    return Answer(data, "\n".join(lines), status)


def _way_on(out: str | None) -> str:
    return f"; gradstep sweep --resume {out} makes the others" if out else ""
