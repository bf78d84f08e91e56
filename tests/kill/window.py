"""A real window, killed while it edits; the next one must offer all edits older than a second, and
is killed in its turn: what is recovered is killed again and again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.kill.tally import Tally

ROOT = Path(__file__).parents[2]
OLD = 1.0  # seconds after which an edit may not be lost
PATIENCE = 240.0  # seconds in which a window starts, and ends
MOST = 40  # edits after which a window is killed, and a little later:
LATER = 1.5  # seconds
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
ANEW = 20  # kills after which all begins on an empty disk


@dataclass
class Life:
    """What a window's log tells. began: "nothing", or what it recovered; states: what it showed,
    and when."""

    began: str = ""
    states: list[tuple[float, str]] = field(default_factory=list)
    stall_ms: float = 0.0

    @classmethod
    def of(cls, log: Path) -> Life:
        life = cls()
        lines = log.read_text().splitlines() if log.exists() else []
        for word, *rest in (line.split() for line in lines):
            if word in ("nothing", "recovered"):
                life.began = word if word == "nothing" else rest[0]
            if word in ("opened", "recovered"):
                life.states.append((0.0, rest[0]))
            if word == "shown":
                life.states.append((float(rest[0]), rest[1]))
                life.stall_ms = float(rest[2])
        return life


def campaign(times: int, seed: int, say: Callable[[str], None]) -> Tally:
    """`times` kills. After the last one more window looks at what is left."""
    tally, draw = Tally(), random.Random(seed)
    made = recoveries = 0
    home = Path(tempfile.mkdtemp(prefix="kill-window-"))
    try:
        due: Due | None = None
        for number in range(times + 1):
            last = number == times
            if number and number % ANEW == 0 and not last:
                _check(_live(home, draw, signal.SIGKILL, tally, 0)[0], due, tally)
                shutil.rmtree(home)
                due = None
            how = signal.SIGKILL if last else draw.choice(SIGNALS)
            edits = 0 if last or draw.random() < 0.15 else draw.randrange(MOST)
            life, killed = _live(home, draw, how, tally, edits)
            _check(life, due, tally)
            made += max(len(life.states) - 1, 0)
            recoveries += life.began not in ("", "nothing")
            if life.began:  # one that did not get so far changed nothing
                due = Due(life, killed, how)
            if not last:
                tally.cases += 1
                say(f"{tally.cases}/{times} {how.name}, {tally.lost} lost")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    tally.notes.append(f"{made} edits, {recoveries} recoveries")
    return tally


@dataclass
class Due:
    """What the next window must have: the life before, and how it ended."""

    life: Life
    killed: float
    how: signal.Signals

    @property
    def needed(self) -> int:
        """Number of the first state that may be what is found: all later ones may, too."""
        age = OLD if self.how is signal.SIGKILL else 0.0
        old = [n for n, (when, _) in enumerate(self.life.states) if when <= self.killed - age]
        return old[-1] if old else 0


def _check(life: Life, due: Due | None, tally: Tally) -> None:
    """Count what is missing of the life before."""
    if due is None or not life.began:
        return
    found = due.life.states[0][1] if life.began == "nothing" else life.began
    fits = [number for number, (_, digest) in enumerate(due.life.states) if digest == found]
    recovered = max(fits, default=-1)
    if recovered < due.needed:
        lost = due.needed - max(recovered, 0)
        tally.lost += max(lost, 1)
        began = life.began or "no answer"
        had = f"state {recovered}, {due.needed} needed of {len(due.life.states)}"
        tally.notes.append(f"{due.how.name}: {had}; began with {began}")
        sys.stderr.write(f"kill: {tally.notes[-1]}\n")


def _live(
    home: Path, draw: random.Random, how: signal.Signals, tally: Tally, edits: int
) -> tuple[Life, float]:
    """Start a window, let it make so many edits, and a few more, and end it."""
    home.mkdir(exist_ok=True)
    log, errors = home / "log", home / "errors"
    log.unlink(missing_ok=True)
    number = str(draw.randrange(1 << 30))
    with errors.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.kill.window_child", str(log), "--seed", number],
            cwd=ROOT, env=_environment(home), stdout=said, stderr=said,
        )  # fmt: skip
    try:
        killed = _end(process, log, draw, how, tally, edits)
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
    life = Life.of(log)
    tally.stall_ms = max(tally.stall_ms, life.stall_ms)
    text = errors.read_text(errors="replace")
    if "Traceback" in text:
        tally.internal_errors += 1
        tally.notes.append(text[-600:])
    return life, killed


def _end(
    process: subprocess.Popen[bytes],
    log: Path,
    draw: random.Random,
    how: signal.Signals,
    tally: Tally,
    edits: int,
) -> float:
    """End it once it made so many edits; when that was."""
    if not _until(lambda: len(Life.of(log).states) > edits or _is_over(process, tally)):
        tally.hangs += 1
        tally.notes.append(f"no {edits} edits in {PATIENCE:.0f} s: {Life.of(log)}"[:300])
    if edits:
        time.sleep(draw.uniform(0.0, LATER))
    killed = time.monotonic()
    if not _is_over(process, tally):
        process.send_signal(how)
    if not _until(lambda: _is_over(process, tally)):
        tally.hangs += 1
        tally.notes.append(f"{how.name} does not end it")
    return killed


def _is_over(process: subprocess.Popen[bytes], tally: Tally) -> bool:
    if process.returncode is not None:
        return True
    number, status, used = os.wait4(process.pid, os.WNOHANG)
    if number:
        process.returncode = os.waitstatus_to_exitcode(status)
        tally.peak_mib = max(tally.peak_mib, used.ru_maxrss / 1024)
    return bool(number)


def _until(happened: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _environment(home: Path) -> dict[str, str]:
    kinds = ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME")
    folders = {}
    for kind in kinds:
        folder = home / kind.lower()
        folder.mkdir(mode=0o700, exist_ok=True)
        folders[f"XDG_{kind}_DIR" if kind == "RUNTIME" else f"XDG_{kind}_HOME"] = str(folder)
    return {**os.environ, **folders, "HOME": str(home), "QT_QPA_PLATFORM": "offscreen",
            "QT_LOGGING_RULES": "default.warning=false"}  # fmt: skip
