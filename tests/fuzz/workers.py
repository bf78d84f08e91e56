"""Cases in forked processes with bounds on memory and time: a hang or a crash costs one worker.

A worker inherits everything that is loaded, tries cases one after another and says of each when it
begins and how it failed. It is forked anew after a while, and whenever one has died.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from tests.fuzz.failure import ROOT, Failure, HangError, failure_of

MEMORY = 4 << 30  # bytes of address space
SECONDS = 10  # of processor time for one case
_GRACE = 5.0  # more of them, for what does not return to Python
_SILENCE = 90.0  # seconds in which nothing is heard, on a machine that has other work
_ROUND = 2000  # cases of one worker

Try = Callable[[int], None]  # raises how a case failed


@dataclass(frozen=True)
class Found:
    """A case that failed."""

    number: int
    failure: Failure


@dataclass
class Tally:
    """peak: bytes that a worker held at most; stall: seconds of the slowest case."""

    cases: int = 0
    peak: int = 0
    stall: float = 0.0


def failures(numbers: range, attempt: Try, tally: Tally, until: float) -> Iterator[Found]:
    """The cases among `numbers` that fail, as far as that gets until a time (monotonic)."""
    at = numbers.start
    while at < numbers.stop and time.monotonic() < until:
        worker = _Worker(range(at, min(at + _ROUND, numbers.stop)), attempt, until)
        for said in worker.says():
            if "failure" in said:
                yield Found(said["at"], Failure(**said["failure"]))
            tally.stall = max(tally.stall, said.get("took", 0.0))
            tally.peak = max(tally.peak, said.get("peak", 0))
        if worker.died is not None:
            yield Found(worker.at, worker.died)
        tally.cases += worker.at + 1 - at
        at = worker.at + 1


class _Worker:
    """A forked process that tries some cases. at: the last that it began."""

    def __init__(self, numbers: range, attempt: Try, until: float) -> None:
        self._stack = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the worker
        self.at = numbers.start
        self.died: Failure | None = None
        read, write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(read)
            _work(numbers, attempt, until, write, self._stack.fileno())
        os.close(write)
        self._pipe = os.fdopen(read, "rb", buffering=0)

    def says(self) -> Iterator[dict[str, Any]]:
        """What it says, until its end."""
        rest, begun, hung = b"", 0.0, ""
        heard = time.monotonic()
        while True:
            ready, _, _ = select.select([self._pipe], [], [], 1.0)
            data = self._pipe.read(1 << 16) if ready else None
            if data == b"":
                break
            *lines, rest = (rest + (data or b"")).split(b"\n")
            for line in lines:
                said = json.loads(line)
                self.at = said["at"]
                yield said
            if lines:
                begun, heard = _processor_time(self._pid), time.monotonic()
                continue
            if _processor_time(self._pid) - begun > SECONDS + _GRACE:
                hung = "it does not return to Python"
            elif time.monotonic() - heard > _SILENCE:
                hung = f"it waits for more than {_SILENCE:.0f} s"
            if hung:
                os.kill(self._pid, signal.SIGUSR1)
                time.sleep(0.2)
                os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._pipe.close()
        if hung or code not in (0, _HUNG):
            kind = "hang" if hung else "crash"
            self.died = Failure(kind, self._where(), "", hung or f"status {code}")
        self._stack.close()

    def _where(self) -> str:
        """The innermost function of the project, of what faulthandler wrote."""
        self._stack.seek(0)
        for line in self._stack.read().decode(errors="replace").splitlines():
            _, quote, rest = line.partition('File "')
            path, _, place = rest.partition('"')
            if quote and path.startswith(f"{ROOT}/") and "/tests/" not in path:
                return f"{path[len(str(ROOT)) + 1 :]}:{place.rpartition(' in ')[2]}"
        return ""


_HUNG = 3  # exit status of a worker that has said so itself


def _processor_time(pid: int) -> float:
    """Seconds that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work(numbers: range, attempt: Try, until: float, pipe: int, stack: int) -> NoReturn:
    code = 1
    try:
        _bound(stack)
        out = os.fdopen(pipe, "w", buffering=1)
        for number in numbers:
            if time.monotonic() > until and number > numbers.start:
                break
            out.write(json.dumps({"at": number}) + "\n")
            if not _tried(number, attempt, out):
                code = _HUNG
                break
        else:
            code = 0
        code = code if code == _HUNG else 0
    finally:
        os._exit(code)


def _bound(stack: int) -> None:
    faulthandler.enable(stack)
    faulthandler.register(signal.SIGUSR1, stack)
    signal.signal(signal.SIGPROF, _hang)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - as long as the process


def _hang(*_: object) -> NoReturn:
    raise HangError(f"it takes more than {SECONDS} s of processor time")


def _tried(number: int, attempt: Try, out: Any) -> bool:
    """Try a case and say how it went; false where the worker had better end."""
    start = time.process_time()
    failure: Failure | None = None
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        attempt(number)
    except BaseException as error:
        failure = failure_of(error)
    signal.setitimer(signal.ITIMER_PROF, 0)
    said: dict[str, Any] = {"at": number, "took": time.process_time() - start}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    said["peak"] = peak
    if failure is not None:
        said["failure"] = asdict(failure)
    out.write(json.dumps(said) + "\n")
    return failure is None or failure.kind != "hang"
