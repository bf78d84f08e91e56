"""The engine process as Qt sees it: replies are calls on the main thread, states a signal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.errors import GradstepError
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.remote_engine import EngineChoice
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.protocol.error_records import info_of
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    CheckCurves,
    CheckExpectations,
    CheckGradients,
    Classify,
    Compare,
    CompareStep,
    CompareVariants,
    Control,
    DescribeTensor,
    Diagnose,
    DrawLines,
    DrawTensor,
    Edit,
    ErrorInfo,
    ExaminePrecision,
    Expect,
    Failed,
    FindBroken,
    FindElement,
    FindMoments,
    LeaveOut,
    LookAtBatch,
    Message,
    Notate,
    Open,
    Profile,
    Read,
    ReadTable,
    SaveTensor,
    Train,
    Watch,
    WeighRows,
    Why,
)
from gradstep.gui.model.thread_calls import ThreadCalls

BUSY_AFTER = 150  # milliseconds; shorter work does not show
PREPARING, WORKING = "Preparing", "Working"  # neither is stopped by a pause
EngineState = Literal["starting", "ready", "busy", "dead"]
DOING = {  # what is asked of the engine, as the status bar says it
    Open: PREPARING,
    Edit: PREPARING,
    Control: "Running",
    Train: "Training",
    Expect: "Running",
    Compare: "Comparing",
    CheckGradients: "Checking gradients",
    CheckExpectations: "Checking",
    ExaminePrecision: "Trying formats",
    Why: "Explaining",
    Profile: "Measuring",
    DrawTensor: "Drawing",
    DrawLines: "Drawing",
    DescribeTensor: "Measuring",
    FindElement: "Looking",
    FindMoments: "Looking through runs",
    SaveTensor: "Saving",
    CompareStep: "Comparing",
    CompareVariants: "Comparing",
    WeighRows: "Looking at rows",
    LeaveOut: "Running",
    Classify: "Looking at rows",
}
LOOKING = (
    Read | ReadTable | Notate | FindBroken | LookAtBatch | Watch | Diagnose | CheckCurves
)  # what is recorded; done in no time, and nothing to wait for

_REPLACED = ErrorInfo(
    type="EngineDied", message="the engine was restarted before it answered", hint="ask again"
)

Answer = Callable[[Message, tuple[Buffer, ...]], None]


def _ignore(*args: object) -> None:
    pass


class EngineBridge(QObject):
    """One engine process. Its state is "busy" where a command takes longer than a blink."""

    state_changed = Signal(str)  # EngineState
    event_received = Signal(object)  # Event
    died = Signal(object)  # GradstepError

    def __init__(self, engine: EngineChoice = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state: EngineState = "starting"
        self.death: GradstepError | None = None  # why the last one ended, unasked
        self._closed = False
        self._waiting: list[Message] = []  # requests without a reply yet, in their order
        self._engine = 0  # the number of the process that is asked
        self._news, self._replies, self._replays = (ThreadCalls(self) for _ in range(3))
        told, ended = self._news.keep(self.event_received.emit), self._news.keep(self._ended)
        self._client = EngineClient(engine, told, ended)
        self._blink = QTimer(self, singleShot=True, interval=BUSY_AFTER)
        self._blink.timeout.connect(self._show_busy)

    @property
    def pid(self) -> int:
        return self._client.pid

    @property
    def command(self) -> Sequence[str]:
        """What starts the process."""
        return self._client.argv

    @property
    def engine(self) -> EngineChoice:
        """What a client that is to have one like it is made of."""
        return self._client.remote or self._client.argv

    @property
    def machine(self) -> str:
        """The host on which the process runs; "" for this machine."""
        return "" if self._client.remote is None else self._client.remote.host

    @property
    def address(self) -> str:
        """Where that is, as users write it; "" for this machine."""
        return "" if self._client.remote is None else self._client.remote.address

    def use(self, engine: EngineChoice) -> None:
        """Where the next process is started."""
        self._client.use(engine)

    def lend(self, columns: Iterable[str]) -> None:
        """Let a process on another machine have the rows of the files that these texts name, and of
        no others; one without files gets none."""
        self._client.files.lend(None if self._client.confined else columns)

    def lend_typed(self, line: str) -> None:
        """Let it also have the file that a line names, which the user typed, until the next."""
        self._client.files.lend_typed(line)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is on its way to the engine or back."""
        return (self.state == "ready" or self.state == "dead") and not self._waiting

    @property
    def is_read(self) -> bool:
        """Whether values or words that a view looks at are on their way."""
        return any(isinstance(message, Read | Notate) for message in self._waiting)

    @property
    def doing(self) -> str:
        """What the engine is at, in a word; "" where nothing is asked of it."""
        command = next(self._commands, None)
        return DOING.get(type(command), WORKING) if command is not None else ""

    @property
    def _commands(self) -> Iterator[Message]:
        """What was asked beside what is recorded."""
        return (message for message in self._waiting if not isinstance(message, LOOKING))

    def start(self) -> None:
        """Start the process; state follows."""
        try:
            self._client.start()
        except GradstepError as error:
            self._bury(error)

    def send(
        self, message: Message, buffers: Sequence[Buffer] = (), then: Answer = _ignore
    ) -> None:
        """Ask without waiting; `then(reply, buffers)` is called on the main thread, once, also with
        Failed: that is so, too, where the process ends or is replaced before it answers."""
        self._waiting.append(message)
        if self.doing and not self._blink.isActive():
            self._blink.start()

        answered = self._replies.keep(
            partial(self._answered, self._engine, message, then), once=True
        )
        try:
            self._client.send(message, buffers, answered)
        except GradstepError as error:  # no process could be started
            self._bury(error)
            answered(Failed(error=info_of(error)), ())

    @property
    def confined(self) -> bool:
        """Whether the process has no network and no files."""
        return self._client.confined

    def forget(self) -> None:
        """The next process is not to be led to where this one stands."""
        self._client.forget()

    def replace(self, confined: bool) -> None:
        """A new process that knows nothing, with network and files or without."""
        self._client.confined = confined
        self.forget()
        self.restart(_ignore)

    def permit(self, permission: Permission, then: Answer) -> None:
        """A new process in which the open document's Python may do that; as `restart`."""
        self._client.confined = permission is Permission.CONFINED
        self._client.permit(permission)
        self.restart(then)

    def restart(self, then: Answer) -> None:
        """A new process, led to where the old one stood; `then` gets every reply on the way."""
        self._engine += 1
        self._replays.forget()
        self._waiting.clear()
        self._set_state("starting")
        try:
            answered = partial(self._answered, self._engine, None, then)
            self._client.restart(self._replays.keep(answered))
        except GradstepError as error:
            self._bury(error)

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        self._client.kill()

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._blink.stop()
        for calls in (self._news, self._replies, self._replays):
            calls.forget()
        self._client.close()

    def _answered(
        self,
        engine: int,
        asked: Message | None,
        then: Answer,
        reply: Message,
        received: tuple[Buffer, ...],
    ) -> None:
        """engine: which process was asked. What one said that is replaced by now is of no run that
        there is any more."""
        if engine != self._engine:
            then(Failed(error=_REPLACED), ())
            return
        before = self.doing
        self._waiting = [message for message in self._waiting if message is not asked]
        if self.state != "dead":
            if not self.doing:
                self._blink.stop()
                self._set_state("ready")
            elif self.state == "starting":
                self._set_state("busy")
            elif self.state == "busy" and self.doing != before:
                self.state_changed.emit(self.state)
        then(reply, received)

    def _show_busy(self) -> None:
        if self.state == "ready" and self.doing:
            self._set_state("busy")

    def _bury(self, error: GradstepError) -> None:
        self.death = error
        self._waiting.clear()
        self._blink.stop()
        self._set_state("dead")
        self.died.emit(error)

    def _set_state(self, state: EngineState) -> None:
        if state != self.state and not self._closed:
            self.state = state
            self.state_changed.emit(state)

    def _ended(self, error: GradstepError) -> None:
        if not self._client.alive:  # it may have been replaced meanwhile
            self._bury(error)
