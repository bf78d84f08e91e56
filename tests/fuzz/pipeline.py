"""All that a user's action can ask of a file: read, derive, describe, run, step back, look,
explain, save and reopen, export, check.

What may be said is a GradstepError. Anything else that is raised here is a failure, and so is an
InternalError, wherever it is said: gradstep.core.errors.unforeseen makes them all, and logs them.
"""

from __future__ import annotations

import builtins
import logging
import resource
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradstep.core import errors
from gradstep.core.document.document import Document
from gradstep.core.document.required_python import missing_code
from gradstep.core.errors import GradstepError
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io import export_document, format_table, open_document
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.sniff.file_sample import Sample
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.protocol import messages as m
from tests.fuzz import doors
from tests.fuzz.bombs import BOMBS, MOST
from tests.fuzz.case import BOMB, CANARY, Case
from tests.fuzz.failure import CodeRunError, LostError

_MEMORY = 64 << 20  # bytes of recorded runs
_PATIENCE, _NO_MORE = 1.0, 0.1  # seconds of processor time until Pause is pressed; and again
_LOOKED_AT = 12  # tensors and operations that are asked about one by one


def try_case(case: Case, heavy: bool) -> None:
    """Raises what nobody foresaw. heavy: checks and expectations as well."""
    with _unforeseen_raised(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if case.suffix == BOMB:
                _try_bomb(case.data.decode())
            elif case.is_text:
                doors.try_text(case.suffix, case.data.decode("utf-8", "replace"))
            else:
                _try_file(case, heavy)
        finally:
            if builtins.__dict__.pop(CANARY, False):
                raise CodeRunError("Python of a document ran that nobody had trusted")


class _Noted(logging.Handler):
    """Remembers the first exception that was turned into an InternalError."""

    def __init__(self) -> None:
        super().__init__()
        self.first: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.first is None and record.exc_info:
            self.first = record.exc_info[1]


@contextmanager
def _unforeseen_raised() -> Iterator[None]:
    noted, log = _Noted(), logging.getLogger("gradstep")
    log.addHandler(noted)
    errors._logged.clear()
    try:
        yield
    except AssertionError as said:
        raise noted.first or said from None
    finally:
        log.removeHandler(noted)
    if noted.first is not None:
        raise noted.first


def read(case: Case) -> Document | None:
    """The document of a file's bytes; None for one that is refused."""
    name = f"case{case.suffix}"
    kind = format_table.format_of(Sample.of_bytes(case.data, name))
    try:
        return None if kind.read is None else kind.read(case.data, name, Budget())
    except GradstepError as error:
        _not_internal(error)
        return None


def _not_internal(error: GradstepError | m.ErrorInfo) -> None:
    kind = error.kind if isinstance(error, GradstepError) else error.type
    if kind == "InternalError":
        raise AssertionError(error.message)


def _try_file(case: Case, heavy: bool) -> None:
    document = read(case)
    if document is None:
        return
    data = _saved(document)
    for suffix in format_table.suffixes_written(is_drawn=False) if case.exported else ():
        _tried(export_document.to_bytes, document, suffix)
    missing_code(document)
    if data is not None:
        asked = Asking(data)
        asked.all_of(document, heavy)


def _try_bomb(name: str) -> None:
    """It opens or is refused, as it is known to, for little memory."""
    bomb = next(bomb for bomb in BOMBS if bomb.name == name)
    with tempfile.TemporaryDirectory() as folder:
        path, before = bomb.build(Path(folder)), _most_memory()
        try:
            infer_declared(open_document.read(path).graph)
            said = ""
        except GradstepError as error:
            _not_internal(error)
            said = error.message
    if bool(said) == bomb.opens or bomb.said not in said:
        raise AssertionError(f"{name}: {said or 'it opened'}")
    if _most_memory() - before > MOST:
        raise AssertionError(f"{name} took {(_most_memory() - before) >> 20} MiB")


def _most_memory() -> int:
    """Bytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _saved(document: Document) -> bytes | None:
    """The document's file, which must be read as the same document; None where it is refused."""
    try:
        data = gradstep_file.to_bytes(document, readable=False)
    except GradstepError as error:
        _not_internal(error)
        return None
    try:
        again = gradstep_file.to_bytes(gradstep_file.from_bytes(data), readable=False)
    except GradstepError as error:
        raise LostError(f"what was saved does not open again: {error.message}") from error
    if again != data:
        raise LostError("what was saved opens as another document")
    return data


def _tried(action: object, *arguments: object) -> object:
    try:
        return action(*arguments)  # type: ignore[operator]
    except GradstepError as error:
        _not_internal(error)
        return None


class Asking:
    """What the window asks of the engine about one document, and a user who presses Pause."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._engine = EngineService(CpuOnly())
        self._patience = _PATIENCE

    def ask(self, request: m.Message) -> m.Message:
        reply = self._answered(request)
        if isinstance(reply, m.Failed):
            _not_internal(reply.error)
        return reply

    def _answered(self, request: m.Message) -> m.Message:
        pressed = False

        def press(*_: object) -> None:
            nonlocal pressed
            pressed = True
            self._engine.pause()

        before = signal.signal(signal.SIGVTALRM, press)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._patience)
        try:
            return self._engine.handle(request, [self._data])[0]
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
            if pressed:
                self._patience = _NO_MORE
                self._engine.handle(m.Control(command="pause"))

    def all_of(self, document: Document, heavy: bool) -> None:
        opened = self.ask(m.Open(recorded_limit=_MEMORY))
        if not isinstance(opened, m.Opened):
            return
        for problem in opened.program.problems:
            _not_internal(problem)
        self._move()
        self._look(opened.program, document)
        if heavy:
            self._check(opened.program)

    def _move(self) -> None:
        """To the end of the second run and back, and into what comes next."""
        moves = "continue_ continue_ step step_back step_back restart step_into step_into step_out"
        for move in (*moves.split(), "step", "continue_", "reverse_continue", "continue_"):
            stopped = self.ask(m.Control(command=move))
            if isinstance(stopped, m.Stopped) and stopped.error is not None:
                _not_internal(stopped.error)

    def _look(self, program: m.ProgramInfo, document: Document) -> None:
        outputs = [ref for step in program.steps for ref in step.outputs]
        wanted = [*outputs, *program.gradients.values(), *map(str, document.fetches)]
        self.ask(m.Read(refs=wanted))
        self.ask(m.Read(refs=wanted[:_LOOKED_AT], run=0, step=0))
        self.ask(m.FindBroken())
        self.ask(m.Watch(texts=[*document.watches, *(f'x["{ref}"]' for ref in wanted)], most=2))
        self.ask(m.ManageSessions(command="list"))
        names = [step.op for step in program.steps[-_LOOKED_AT:]]
        self.ask(m.FindRepeats(names=names[:3]))
        told = self.ask(m.Notate(ops=[step.op for step in program.steps]))
        for problem in told.problems if isinstance(told, m.Notated) else ():
            _not_internal(problem)
        for name in names[-4:]:
            self.ask(m.Why(of=f"{name}:0"))
        for of in map(str, document.request.of[:2]):
            for wrt in map(str, document.request.wrt[:3]):
                self.ask(m.Why(of=of, wrt=wrt))
                self.ask(m.FindBottlenecks(of=of, wrt=wrt))

    def _check(self, program: m.ProgramInfo) -> None:
        self.ask(m.ManageSessions(command="duplicate", name="second"))
        self.ask(m.Open(recorded_limit=_MEMORY, keep_position=True))
        self.ask(m.CheckExpectations())
        if len(program.steps) < 60:
            self.ask(m.CheckGradients())
            for step in program.steps[:2]:
                self.ask(m.CheckGradients(node=step.origin))
        self.ask(m.Profile(mode="fast", runs=1))
        self.ask(m.Expect(what=["value"] if not program.steps else [f'x["{program.steps[0].op}"]']))
