"""Saving, stopped at every system call and at random moments: the file is the old or the new."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io import edit_journal
from gradstep.core.io.disk import in_place_write
from gradstep.core.io.disk.atomic_write import remove_parts, replace_file
from gradstep.core.io.edit_journal import EditJournal, JournalNote
from gradstep.core.io.native import gradstep_file
from tests.kill.disk import Disk, PowerCutError, at_call
from tests.kill.tally import Tally

OLD, NEW = b"old" * 700, b"the new contents" * 300
PATIENCE = 30.0  # seconds
FAULTS = (errno.ENOSPC, errno.EIO, errno.EACCES)


@dataclass
class Scene:
    """A folder to save in, and what may be in the file: before, on the way, after."""

    root: Path
    path: Path
    save: Callable[[], None]
    holds: Callable[[], object]  # what the file holds, as a user would find it
    allowed: tuple[object, ...]


def campaign(times: int, seed: int, say: Callable[[str], None]) -> Tally:
    """Every call of every kind of save fails, kills and loses the power once; then `times` kills at
    random moments."""
    tally = Tally()
    for kind in KINDS:
        before = tally.cases
        every_call(kind, tally)
        say(f"{kind}: {tally.cases - before} cases, {tally.lost} lost")
    at_random(times, random.Random(seed), tally)
    say(f"at random: {times} kills, {tally.lost} lost")
    tally.peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return tally


def every_call(kind: str, tally: Tally) -> None:
    """Stop this kind of save at each of its calls, in each way."""
    for fault in FAULTS:
        _until_done(lambda number, fault=fault: _fail(kind, number, fault, tally))
    _until_done(lambda number: _kill(kind, number, tally))
    _until_done(lambda number: _cut(kind, number, tally))


def _until_done(one: Callable[[int], bool]) -> None:
    number = 0
    while one(number):
        number += 1


def _fail(kind: str, number: int, fault: int, tally: Tally) -> bool:
    """The nth call fails: it is said, the file is as before, and nothing lies around. Or it did not
    matter."""

    def act(name: str) -> None:
        raise OSError(fault, os.strerror(fault))

    with scene(kind) as s:
        with at_call(number, act) as calls:
            done = _try(s, tally)
        if number >= len(calls):
            return False
        _judge(
            s, f"{kind}: {calls[number]} ({number}) fails, {errno.errorcode[fault]}", tally, done
        )
    return True


def _try(s: Scene, tally: Tally) -> bool:
    try:
        s.save()
    except GradstepError:
        return False
    except Exception as error:
        tally.internal_errors += 1
        tally.notes.append(f"{type(error).__name__}: {error}")
        return False
    return True


def _kill(kind: str, number: int, tally: Tally) -> bool:
    """The process dies before the nth call."""
    with scene(kind) as s:
        child = os.fork()
        if not child:
            with at_call(number, lambda name: os.kill(os.getpid(), signal.SIGKILL)):
                s.save()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return False
        _judge(s, f"{kind}: killed before call {number}", tally)
    return True


def _cut(kind: str, number: int, tally: Tally) -> bool:
    """The power goes before the nth call, or after the last."""
    with scene(kind) as s, tempfile.TemporaryDirectory() as other:
        disk, over = Disk(s.root), True
        try:
            with disk.cut_at(number):
                try:
                    s.save()
                except PowerCutError:
                    over = False
                    raise
                finally:
                    disk.freeze()
        except PowerCutError:
            pass
        after = Path(other) / "after"
        for state in disk.remains(after):
            with _state_in(after / "state"):
                what = f"{kind}: power lost before call {number}, {state}"
                _judge(_elsewhere(kind, after, s), what, tally, over or None)
    return not over


def _judge(s: Scene, what: str, tally: Tally, done: bool | None = None) -> None:
    """After the next start. done: whether the save said that it went through; None if it could not
    say."""
    tally.cases += 1
    in_place_write.finish()
    remove_parts(s.path.parent)
    held = s.holds()
    failed = (
        s.allowed[:1] if len(s.allowed) == 2 else s.allowed
    )  # of several saves some went through
    allowed = s.allowed if done is None else s.allowed[-1:] if done else failed
    if held not in allowed:
        tally.lost += 1
        tally.notes.append(f"{what}: the file holds {str(held)[:40]!r}")
    debris = [p.name for p in s.path.parent.iterdir() if p.name.endswith("-part")]
    debris += [p.name for p in in_place_write.records_folder().glob("*")]
    if debris:
        tally.lost += 1
        tally.notes.append(f"{what}: left behind {debris}")


# -- kinds of saves ----------------------------------------------------------------------------


@contextmanager
def scene(kind: str) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(prefix="kill-") as name:
        root = Path(name)
        (root / "work").mkdir()
        (root / "state" / "gradstep" / "writing").mkdir(parents=True)
        with _state_in(root / "state"):
            yield KINDS[kind](root)


@contextmanager
def _state_in(folder: Path) -> Iterator[None]:
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("XDG_STATE_HOME")
        else:
            os.environ["XDG_STATE_HOME"] = before


def _over(root: Path) -> Scene:
    path = root / "work" / "a.gradstep"
    path.write_bytes(OLD)
    return Scene(root, path, lambda: replace_file(path, NEW), path.read_bytes, (OLD, NEW))


def _fresh(root: Path) -> Scene:
    path = root / "work" / "a.gradstep"

    def holds() -> object:
        return path.read_bytes() if path.exists() else None

    return Scene(root, path, lambda: replace_file(path, NEW), holds, (None, NEW))


def _linked(root: Path) -> Scene:
    made = _over(root)
    os.link(made.path, root / "work" / "other-name")
    return made


def _shorter(root: Path) -> Scene:
    made = _linked(root)
    made.path.write_bytes(NEW)
    made.save, made.allowed = (lambda: replace_file(made.path, OLD)), (NEW, OLD)
    return made


def _documents() -> list[Document]:
    found = [Document()]
    for number in range(4):
        found.append(document_edits.add_operation(found[-1], "Tanh", (0.0, 0.0), f"t{number}")[0])
    return found


def _journal(root: Path) -> Scene:
    path = root / "work" / "a.journal"
    documents = _documents()
    writing = EditJournal(path)
    writing.keep(documents[0], JournalNote())

    def save() -> None:
        for document in documents[1:]:
            writing.keep(document, JournalNote())

    def holds() -> object:
        return len(edit_journal.read(path)[1].graph)

    return Scene(root, path, save, holds, tuple(range(len(documents))))


KINDS: dict[str, Callable[[Path], Scene]] = {
    "a new file": _fresh,
    "over a file": _over,
    "over a file with two names": _linked,
    "over a longer file with two names": _shorter,
    "a journal": _journal,
}


def _elsewhere(kind: str, after: Path, s: Scene) -> Scene:
    """The same scene, as the power cut left it in another folder."""
    path = after / s.path.relative_to(s.root)
    if kind == "a journal":
        return Scene(after, path, s.save, lambda: len(edit_journal.read(path)[1].graph), s.allowed)
    for record in in_place_write.records_folder().glob("*.redo"):
        _redirect(record, s.path, path)
    holds = lambda: path.read_bytes() if path.exists() else None  # noqa: E731
    return Scene(after, path, s.save, holds, s.allowed)


def _redirect(record: Path, old: Path, new: Path) -> None:
    """A record names the file by its path, which is another one here."""
    redo = in_place_write.read_record(record)
    if redo is not None and redo.path == str(old):
        redo.path = str(new)
        record.write_bytes(in_place_write.as_bytes(redo))


# -- at random ---------------------------------------------------------------------------------


def at_random(times: int, draw: random.Random, tally: Tally) -> None:
    """A process saves one document after another, small and large ones; the file holds one of them
    whole, and none older than the last that was acknowledged."""
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="kill-") as name, _state_in(Path(name) / "state"):
            path = Path(name) / "a.gradstep"
            size = draw.choice((0, 0, 200_000, 2_000_000))
            said, saying = os.pipe()
            child = os.fork()
            if not child:
                _save_for_ever(path, size, saying)
            os.close(saying)
            os.read(said, 1)
            time.sleep(draw.expovariate(1 / 0.02))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with os.fdopen(said, "rb") as file:
                acknowledged = len(file.read())
            tally.cases += 1
            remove_parts(path.parent)
            number = int(gradstep_file.load(path).note.partition(" ")[0])
            if number < acknowledged or [p.name for p in path.parent.iterdir()] != [path.name]:
                tally.lost += 1
                tally.notes.append(f"killed at random: {number} of {acknowledged}")


def _save_for_ever(path: Path, size: int, saying: int) -> None:
    try:
        number = 0
        while True:
            gradstep_file.save(path, Document(note=f"{number} " + "x" * size))
            os.write(saying, b".")
            number += 1
    finally:
        sys.stderr.flush()
        os._exit(1)
