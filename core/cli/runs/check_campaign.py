"""The checks of all documents in a folder, several at a time."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import msgspec
from tqdm import tqdm

from gradstep.core.cli.application_protocol import Answer
from gradstep.core.cli.arguments.argument_words import words_of
from gradstep.core.cli.command_line import verb_parser
from gradstep.core.cli.output.command_output import print_line, require_json, table, usage
from gradstep.core.cli.output.terminal_text import terminal_itself
from gradstep.core.cli.runs.worker_rights import begin_workers
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.host.process.interrupt import on_interrupt
from gradstep.core.host.workers.worker_pool import WorkerPool
from gradstep.core.io.format_table import suffixes_opened

_LOOK = 0.2  # seconds after which it is looked whether to end
_INTERRUPTED = 130  # exit status, as shells have it
_OWN = ("workers", "lines", "json", "help", "timeout")
_OF_ONE = ("node", "of", "wrt", "feed", "init", "restore")  # arguments that are about one document


class Checked(msgspec.Struct, frozen=True):
    """passed: whether all of it holds; conclusion: in words."""

    file: str
    passed: bool
    conclusion: str


def check_folder(args: argparse.Namespace, check: Callable[[str, list[str]], Any]) -> Answer:
    """check: what is called in other processes, with a file and the arguments; it gives a Checked
    as plain data. Exit status 1 where one does not hold, 130 for Ctrl+C."""
    require_json(args)
    files = _files(args)
    words = words_of(verb_parser("check"), args, _OWN)
    count = min(args.workers or os.cpu_count() or 1, len(files))
    begin = begin_workers(args.sandbox, args, [args.file, args.code])
    pool, stop = WorkerPool(count, begin), threading.Event()
    try:
        with on_interrupt(stop.set):
            futures = {pool.submit(check, str(file), words): file for file in files}
            _wait_for(futures, stop, args)
    finally:
        pool.stop() if stop.is_set() else pool.shutdown()
    found = [_found(future, file) for future, file in futures.items() if _is_over(future)]
    return _answer(found, len(files))


def _files(args: argparse.Namespace) -> list[Path]:
    """All that can be opened, below the folder. Raises GradstepError (UsageError)."""
    for name in _OF_ONE:
        if getattr(args, name, None):
            raise usage(f"--{name} is about one document, and {args.file} is a folder",
                        "name a document, or leave it away")  # fmt: skip
    known = suffixes_opened()
    files = sorted(p for p in Path(args.file).rglob("*") if p.suffix.lower() in known)
    files = [path for path in files if path.is_file()]
    if not files:
        raise GradstepError(
            f"there is no document in {args.file}",
            kind="FileError",
            hint=f"documents are called *{', *'.join(known)}",
        )
    return files


def _wait_for(
    futures: dict[Future[Any], Path], stop: threading.Event, args: argparse.Namespace
) -> None:
    left = {*futures}
    bar = tqdm(
        total=len(left),
        unit="document",
        file=terminal_itself(sys.stderr),
        disable=True if args.json else None,
        leave=False,
    )
    while left and not stop.is_set():
        done, left = wait(left, timeout=_LOOK)
        bar.update(len(done))
        for future in filter(_is_over, done if args.lines else ()):
            print_line(msgspec.to_builtins(_found(future, futures[future])))
    bar.close()


def _is_over(future: Future[Any]) -> bool:
    if future.cancelled() or not future.done():
        return False
    error = future.exception()
    return not (isinstance(error, GradstepError) and error.kind == "CancelledError")


def _found(future: Future[Any], file: Path) -> Checked:
    try:
        found = msgspec.convert(future.result(), Checked)
        return msgspec.structs.replace(found, file=str(file))
    except GradstepError as error:
        return Checked(str(file), False, error.message)
    except Exception as error:  # an answer that is none
        return Checked(str(file), False, unforeseen("its process gave no answer", error).message)


def _answer(found: Sequence[Checked], total: int) -> Answer:
    wrong = [each for each in found if not each.passed]
    rows = [["ok" if each.passed else "NOT OK", each.file, each.conclusion] for each in found]
    said = f"{len(found) - len(wrong)} of {total} hold"
    said += f", {total - len(found)} were not checked" if len(found) < total else ""
    data = {"passed": not wrong and len(found) == total, "documents": total,
            "checked": [msgspec.to_builtins(each) for each in found]}  # fmt: skip
    status = 1 if wrong else _INTERRUPTED if len(found) < total else 0
    return Answer(data, "\n".join([table(rows), "", said]), status)
