"""The debug session in the engine process, as the window knows it: program, stop, values."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import structs
from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.graph.problems import WAITING
from gradstep.core.host.engine_document import EngineDocument
from gradstep.core.host.followed_program import FollowedProgram
from gradstep.core.host.remote_engine import EngineChoice
from gradstep.core.memory_release import forget_memos
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    CheckExpectations,
    CheckGradients,
    Compare,
    Compared,
    CompareMoments,
    Comparison,
    Control,
    DeviceInfo,
    DeviceList,
    Devices,
    Edited,
    ErrorInfo,
    Expect,
    Failed,
    GaveWay,
    GradientTable,
    Inject,
    Look,
    ManageBranches,
    Message,
    Moment,
    Open,
    Opened,
    OtherRevision,
    ProblemInfo,
    ProgramInfo,
    Request,
    SessionList,
    StepNotation,
    Stopped,
    Train,
    Trained,
)
from gradstep.core.protocol.program_change import OtherProgramError
from gradstep.gui.model.amended_collections import AmendedDict
from gradstep.gui.model.engine_bridge import Answer, EngineBridge
from gradstep.gui.model.engine_sync import breakpoints_of, same_but_breakpoints, same_run
from gradstep.gui.model.gradient_checks import should_check, with_nodes
from gradstep.gui.model.loss_choice import foremost, shown_loss
from gradstep.gui.model.program_index import ProgramIndex
from gradstep.gui.model.settings import settings
from gradstep.gui.model.step_notations import StepNotations
from gradstep.gui.model.value_cache import (
    HEAD,
    Refs,
    TensorValue,
    ValueCache,
    tensors_of,
)

SETTLE = 120  # milliseconds without an edit before the engine gets more edits than the first
TOGETHER = 40  # milliseconds in which what the engine says of an edit is shown with that
TICK = 10  # milliseconds in which what the engine sends is shown together;
TICKS = 4  # so many where answers to what else is looked at are on their way
ASK_AGAIN = 2000  # milliseconds until a device that has not answered is asked about again
SURVEY = 0.002  # seconds in which the engine may look for NaN before it says where it stands
DEATH = "EngineDied"

_OF_ANOTHER = ErrorInfo(
    type="CancelledError", message="it was given up, as another document was opened"
)


def always() -> bool:
    """An answer that is waited for whatever comes."""
    return True


class Debugger(QObject):
    """What the engine last said about the document it was last shown."""

    program_changed = Signal()
    stopped = Signal()
    values_changed = Signal()
    table_changed = Signal()
    compared = Signal()
    devices_changed = Signal()
    failed = Signal(object)  # ErrorInfo
    ran = Signal(float)  # seconds that the engine had for moves or a training of the session
    told = Signal()  # all that one reply says was said; see `is_telling`
    kept = Signal()  # an edit came to nothing that the engine runs by: the program is of it

    def __init__(self, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.program: ProgramInfo | None = None
        self._index = ProgramIndex(None)
        self.stop: Stopped | None = None
        self.failure: ErrorInfo | None = None
        self.table: GradientTable | None = None
        self.comparisons: list[Comparison] = []
        self.unavailable: dict[str, str] = {}
        self.devices: tuple[DeviceInfo, ...] = ()
        self.device = "cpu"
        self._bridge = bridge
        self._document: Document | None = None
        self._permission = Permission.REFUSED
        self._shown: Document | None = None  # what the engine was last given
        self._told: Document | None = None  # what the program is of
        self._given = EngineDocument()
        self._followed = FollowedProgram()
        self._opening: set[object] = set()  # for each time that it was, without an answer yet
        self._breaking: set[object] = set()  # and for each time that it was told breakpoints
        self._edited = 0.0  # when
        self._has_edit = False  # that the engine was not given, nor need be, as far as one knows
        self._life = 0  # of the document: another for another one
        self._held = 0  # the life of the one that the engine has
        self._telling = 0  # of the reply that is being taken in, how deep
        self.shows_sessions = False  # whether a view wants to know of all at every stop
        self._slowest = 0.0
        self._tensors: Refs = []  # of the program, in full names
        self._put_off: list[Callable[[], None]] = []  # questions, until the engine has the document
        self._tell = QTimer(self, singleShot=True, interval=TICK)
        self._tell.timeout.connect(self._tell_values)
        self._ticks = 0  # since the first that is not shown yet
        self._values = ValueCache(bridge.send, self._note_values, self.later)
        self.notations = StepNotations(
            bridge.send, self._note_values, self._add_problems, self.later, self._makes
        )
        self._settle = QTimer(self, singleShot=True)
        self._settle.timeout.connect(self.flush)
        self._expected = QTimer(self, singleShot=True, interval=TOGETHER)
        self._expected.timeout.connect(self.told)
        self._answered = 0.0  # seconds in which the engine had the last edit

    # -- the document -----------------------------------------------------------------------

    def show(self, document: Document | None, permission: Permission, soon: bool = True) -> None:
        """Give the engine a document. `soon`: it is an edit, and the step is kept; of several in a
        row the engine gets the first one, and the last one. Otherwise it is another document, and
        its session starts at once."""
        self._document, self._permission = document, permission
        edited, self._edited = self._edited, time.monotonic()
        if document is None:
            self._forget()
        elif soon:
            self._has_edit = True
            is_alone = not self._opening and self._edited - edited > SETTLE / 1000
            self._settle.start(0 if is_alone else SETTLE)
            if is_alone and self._answered < TOGETHER / 1000:
                self._expected.start()
        else:
            self._forget()
            forget_memos()
            self._settle.start(0)  # the views show it meanwhile

    def retrust(self, permission: Permission) -> None:
        """The user decided about the document's Python."""
        self._permission = permission
        if self._suits() or self._shown is not self._document:
            self.reopen()
        else:  # the same document, in another process
            self._replace_engine(partial(self._bridge.permit, permission))

    def _suits(self) -> bool:
        """Whether the engine has the rights that the document's Python is to have, and no more."""
        if self._document is None or not self._document.code or not self._permission.runs:
            return True
        return self._bridge.confined == (self._permission is Permission.CONFINED)

    def use(self, device: str) -> None:
        """Run on another device from now on."""
        self.device = device
        self.reopen()

    @property
    def index(self) -> ProgramIndex:
        """Of the program."""
        if self._index.program is not self.program:
            self._index = ProgramIndex(self.program, self._index)
        return self._index

    def _makes(self, tensor: str) -> bool:
        """Whether a step of the program gives it ("a:0")."""
        return self.index.maker(tensor) is not None

    @property
    def carried(self) -> AmendedDict[Edge, str]:
        """Wire -> the tensor that goes back over it."""
        return self.index.carried

    def reopen(self) -> None:
        """Something that the engine is told with the document has changed."""
        self._open(keep_position=self._shown is not None)

    def flush(self) -> None:
        """Give the engine what was edited since, now."""
        self._settle.stop()
        old, new = self._shown, self._document
        if new is not None and (old is None or not same_but_breakpoints(old, new)):
            self._open(keep_position=old is not None)
            return
        if old is not None and new is not None and not same_run(old, new):
            self._shown = new
            self._set_breakpoints(new)
        self._expect_nothing()
        if self._has_edit and not self._opening:
            self.kept.emit()
        self._has_edit = False
        put_off, self._put_off = self._put_off, []
        for ask in put_off:
            ask()

    def _open(self, keep_position: bool) -> None:
        self._settle.stop()
        self._has_edit = False
        self._put_off = []  # what is looked at comes with the answer
        document = self._document
        if document is None:
            return
        if not self._suits():
            self._bridge.replace(self._permission is Permission.CONFINED)
            self._expect_no_answers()
            self.ask_devices()
            self._given.forget()
            keep_position = False
        request = Open(
            trusted=self._permission.runs,
            confined=self._permission is Permission.CONFINED,
            device=self.device,
            keep_position=keep_position,
            recorded_limit=settings().recording_limit,
        )

        asked, life, this = time.monotonic(), self._life, object()

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if this not in self._opening:
                return  # another process was given it meanwhile
            self._opening.remove(this)
            self._answered = time.monotonic() - asked
            if isinstance(reply, Opened | Edited):
                self._held = life
            try:
                reply = self._followed.complete(reply)
            except OtherProgramError:  # there is no telling what it shows then
                self._given.forget()
                self.reopen()
                return
            if document is self._shown:
                self._opened(reply, buffers)

        self._bridge.lend(document.columns.values())
        look = structs.replace(self._look(), ops=self.notations.wanted)
        message, buffers = self._given.give(document, request, look)
        self._shown = document
        self._opening.add(this)
        self._bridge.send(message, buffers, answered)

    def _set_breakpoints(self, document: Document) -> None:
        this = object()

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if this not in self._breaking:
                return
            self._breaking.remove(this)
            if _is_death(reply):
                self._shown = None
            self._complain(reply)

        self._breaking.add(this)
        self._bridge.send(breakpoints_of(document), (), answered)

    def _expect_no_answers(self) -> None:
        """What was given to a process that is replaced is given to the next one."""
        self._opening.clear()
        self._breaking.clear()

    def _opened(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, OtherRevision):
            self._given.forget()
            self._open(keep_position=True)
            return
        if isinstance(reply, Failed):
            self._given.forget()
        if _is_death(reply):
            self._shown = None  # the next engine is to get it
        elif isinstance(reply, Failed):
            self.program = self.stop = None
            self._values.clear()
        self.take(reply, buffers)

    def _forget(self) -> None:
        self._life += 1
        for timer in (self._settle, self._expected):  # nobody waits to show another document
            timer.stop()
        self._shown = self.program = self.stop = self.failure = None
        self._values.clear()
        self.notations.clear()
        self._invalidate()
        self.program_changed.emit()

    def _invalidate(self) -> None:
        """Results about another program say nothing about this one."""
        self._slowest = 0.0
        if self.table is not None:
            self.table = None
            self.table_changed.emit()
        if self.comparisons or self.unavailable:
            self.comparisons, self.unavailable = [], {}
            self.compared.emit()

    @property
    def is_edited(self) -> bool:
        """Whether the document is another one than the engine was last given."""
        return self._settle.isActive()

    @property
    def awaits_program(self) -> bool:
        """Whether the program is still that of the graph before an edit."""
        now, told = self._document, self._told
        return now is not None and told is not None and now.graph is not told.graph

    def is_new(self, op: str) -> bool:
        """Whether an edit made an operation, or its name, of which the program does not know."""
        now, told = self._document, self._told
        if now is None or told is None or now.graph is told.graph:
            return False
        return op in now.graph and op not in told.graph

    @property
    def is_idle(self) -> bool:
        """Whether the engine has the document as it is, and has answered everything."""
        waits = any(t.isActive() for t in (self._settle, self._tell, self._expected))
        return self._bridge.is_idle and not waits

    # -- commands ---------------------------------------------------------------------------

    def control(
        self, command: str, target: str = "", then: Callable[[], None] = lambda: None
    ) -> None:
        """A debugger command, on the document as it is now. `then` is called where it was done."""
        self.flush()
        asked = time.monotonic()

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            took = time.monotonic() - asked
            self._slowest = max(self._slowest, took)
            if look is not None:  # a pause is answered when what it ends is
                self.ran.emit(took)
            self.take(reply, buffers)
            if isinstance(reply, Stopped):
                then()

        look = None if command == "pause" else self._look()
        message = Control(command=command, target=target, look=look)
        self._bridge.send(message, (), self._while_open(answered))

    def train(self, wish: Train, then: Answer) -> None:
        """Run after run, on the document as it is now; `then` gets the answer, once it is shown,
        and has to say what is wrong with the wish."""
        self.flush()
        asked = time.monotonic()

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            self.ran.emit(time.monotonic() - asked)
            if not isinstance(reply, Failed) or _is_death(reply):
                self.take(reply, buffers)
            then(reply, buffers)

        message = structs.replace(wish, look=self._look())
        self._bridge.send(message, (), self._while_open(answered))

    def branch(
        self, message: Inject | ManageBranches, buffers: Sequence[Buffer], then: Answer
    ) -> None:
        """Give a value here, or do something with branches, on the document as it is now; `then`
        gets the answer, and has it taken in."""
        self.flush()
        message = structs.replace(message, look=self._look())
        self._bridge.send(message, buffers, self._while_open(then))

    def later(self, ask: Callable[[], None]) -> None:
        """Once the views have said what they look at; after an edit, once the engine has that."""
        QTimer.singleShot(0, self, lambda: self._put_off.append(ask) if self.is_edited else ask())

    def _look(self) -> Look:
        """What is asked for at every stop."""
        refs = self._values.wanted(self._tensors)
        return Look(refs=refs, limit=HEAD, sessions=self.shows_sessions, survey=SURVEY)

    def request(
        self,
        message: Request,
        buffers: Sequence[Buffer],
        then: Answer,
        wanted: Callable[[], bool] = always,
    ) -> None:
        """Any other request, about the document as it is now. What gave way to a command is asked
        again where the debugger stands then, if it is still `wanted`; else the answer is that. It
        fails if another document was opened before it was answered, unless the answer `outlives`
        its document."""
        self.flush()
        life = self._life

        def answered(reply: Message, received: tuple[Buffer, ...]) -> None:
            gave_way = isinstance(reply, GaveWay)
            if life != self._life and (gave_way or not message.outlives):
                then(Failed(error=_OF_ANOTHER), ())
            elif gave_way and wanted():
                self._bridge.send(message, buffers, answered)
            else:
                then(reply, received)

        self._bridge.send(message, buffers, answered)

    def ask(self, message: Request, buffers: Sequence[Buffer], then: Answer) -> None:
        """As `request`, but nobody waits for what is said of a document that is not open any
        more."""
        self.request(message, buffers, self._while_open(then))

    def _while_open(self, then: Answer) -> Answer:
        """`then`, where no other document is opened before the answer comes: it would be shown as
        if it were of that one."""
        life = self._life

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if life == self._life:
                then(reply, buffers)

        return answered

    def request_of(
        self, document: Document, message: CheckExpectations | Expect, then: Answer
    ) -> None:
        """A request about any document, which the engine reads beside the one that it holds."""
        self.flush()

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, OtherRevision):
                self._given.forget()
                self._bridge.send(*self._given.about(document, message), then)
            else:
                then(reply, buffers)

        self._bridge.send(*self._given.about(document, message), answered)

    def check(self, node: str = "") -> None:
        """Compare native, overridden and numeric gradients; of `node` alone, if one is named."""
        self.ask(CheckGradients(node=node), (), self._add_node if node else self._tabulate)

    def compare(
        self,
        against: Sequence[str],
        go_on: bool = False,
        recordings: Mapping[str, bytes] | None = None,
    ) -> None:
        """Run on other devices, node by node; go_on, recordings: see messages.Compare, the latter
        with the bytes of each file."""
        files = recordings or {}
        request = Compare(
            left=self.device,
            against=list(against),
            go_on=go_on,
            recordings={name: number for number, name in enumerate(files)},
        )
        self.ask(request, tuple(files.values()), self._compared)

    def compare_moments(self, left: Moment, right: Moment) -> None:
        """What is another value at one moment than at another."""
        self.ask(CompareMoments(left=left, right=right), (), self._compared)

    def move(self, engine: EngineChoice) -> None:
        """To an engine elsewhere, which comes to the same step."""
        self._bridge.use(engine)
        self.restart()

    def restart(self) -> None:
        """Replace the engine process; the session comes back at the same step."""
        self._replace_engine(self._bridge.restart)

    def _replace_engine(self, replace: Callable[[Answer], None]) -> None:
        """Another process, which is led to where the one before it stood, and is given what that
        had not taken. In another document than that had, one stands nowhere yet."""
        unanswered = bool(self._opening or self._breaking)
        self._expect_no_answers()
        stands = self._held == self._life
        if not stands:
            self._bridge.forget()
        replace(self.take)
        self.ask_devices()
        if unanswered or self._document is not self._shown or self.program is None:
            self._given.forget()
            self._open(keep_position=stands)

    def ask_devices(self) -> None:
        self._bridge.send(Devices(), (), self._list_devices)

    # -- values -----------------------------------------------------------------------------

    def value(self, ref: str) -> TensorValue | None:
        """The tensor as of the current stop; None while it is unknown."""
        return None if self.stop is None else self._values.get(ref)

    def values(self, refs: Sequence[str]) -> list[TensorValue | None]:
        """Of tensors in full names, "a:0"."""
        return [None] * len(refs) if self.stop is None else self._values.get_all(refs)

    @property
    def lacked(self) -> int:
        """How often a value was looked at that was not here: what was made of values since it was
        as much lacks none, and holds for as long as the debugger stands here."""
        return self._values.lacked

    @property
    def knows_this_stop(self) -> bool:
        """Whether no value is of an earlier stop."""
        return self._values.is_current

    def gradient(self, ref: str) -> TensorValue | None:
        """The gradient that reaches a tensor; state "none" if there is none. None as in `value`,
        and of what an edit made."""
        if self.program is None:
            return None
        name = str(TensorRef.parse(ref))
        holder = self.program.gradients.get(name)
        if holder is not None:
            return self.value(holder)
        if self.is_new(name.partition(":")[0]):
            return None
        held_up = self.held_up or self.program.waiting.get(name, "")
        if held_up:
            return TensorValue(name, "waiting", why=held_up)
        underived = "" if self.program.gradients else self._problem("gradient")
        return TensorValue(name, "none", why=underived)

    @property
    def held_up(self) -> str:
        """What all gradients wait for that are not there yet; "" where they wait for nothing."""
        return self._problem(WAITING)

    def _problem(self, type: str) -> str:
        """What the program's first problem of a type says; "" where there is none."""
        problems = [] if self.program is None else self.program.problems
        return next((p.message for p in problems if p.type == type), "")

    def waits_at(self, edge: Edge) -> str:
        """What the gradient that is to come back over a wire waits for; "" for nothing."""
        return self.held_up or self.index.waiting.get(edge, "")

    def _note_values(self) -> None:
        """Some are here. Views that show them mostly lack others, which are on their way."""
        if not self._tell.isActive():
            self._ticks = 0
            self._tell.start()

    def _tell_values(self) -> None:
        """All of one look at once: each view shows everything anew."""
        self._ticks += 1
        if self._bridge.is_read and self._ticks < TICKS:
            self._tell.start()
        else:
            self.values_changed.emit()

    # -- replies ----------------------------------------------------------------------------

    @property
    def is_telling(self) -> bool:
        """Whether a reply is being taken in, which says several things one after the other, or is
        about to come: who shows all of them waits for `told`."""
        return self._telling > 0 or self._expected.isActive()

    def _expect_nothing(self) -> None:
        if self._expected.isActive():
            self._expected.stop()
            self.told.emit()

    def take(self, reply: Message, buffers: tuple[Buffer, ...] = ()) -> None:
        """The engine has opened a document, stands elsewhere, shows another session, or failed."""
        reply = self._followed.complete(reply)
        self._telling += 1
        try:
            self._take(reply, buffers)
        finally:
            self._telling -= 1
            if not self.is_telling:
                self.told.emit()

    def _take(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Opened | Failed):
            self._expected.stop()
        if isinstance(reply, Opened):
            self._invalidate()
            seen = reply.stopped.seen
            self._show_program(reply.program, () if seen is None else seen.steps)
            self._stand(reply.stopped, buffers[1:])
        elif isinstance(reply, Failed):
            self._fail(reply.error)
        elif self._opening or self.program is None:
            pass  # where it stood with a document before this one, which it is still to answer
        elif isinstance(reply, Stopped):
            if reply.program is not None:  # that of another thread
                self._show_program(reply.program)
            self._stand(reply, buffers)
        elif isinstance(reply, Trained):
            self._stand(reply.stopped, buffers)
        elif isinstance(reply, SessionList):
            self._values.clear()
            self._take(reply.stopped, buffers[1:])

    def _show_program(self, program: ProgramInfo, steps: Sequence[StepNotation] = ()) -> None:
        self.program, self.failure = foremost(program, shown_loss(self.program)), None
        self.notations.renew(steps)
        self._values.leave()
        self._told = self._shown
        if self._shown is not None:
            self._tensors = tensors_of(self.index, self._shown)
        self.program_changed.emit()

    def _add_problems(self, found: list[ProblemInfo]) -> None:
        """What only came out when a step was to be put into words."""
        program = self.program
        new = [p for p in found if program is not None and p not in program.problems]
        if program is not None and new:
            self.program = structs.replace(program, problems=[*program.problems, *new])
            self.program_changed.emit()

    def _stand(self, stop: Stopped, buffers: tuple[Buffer, ...] = ()) -> None:
        self.stop, self.failure = stop, None
        self._values.leave()
        self.stopped.emit()
        if self.program is not None and self._shown is not None:
            parts = () if stop.seen is None else stop.seen.parts
            self._values.refresh(self._tensors, parts, buffers)
            if self._tell.isActive():  # what came with the stop is shown with it
                self._tell.stop()
                self.values_changed.emit()
        if should_check(self.table, self.program, stop, self._slowest):
            standing = lambda: self.stop is stop  # noqa: E731
            self.request(CheckGradients(), (), self._tabulate, standing)  # else asked anew there

    def _fail(self, error: ErrorInfo) -> None:
        if error.type == DEATH:
            return  # said by the engine's state
        self.failure = error
        if self.program is None:
            self.program_changed.emit()
        self.failed.emit(error)

    def _complain(self, reply: Message, buffers: tuple[Buffer, ...] = ()) -> None:
        if isinstance(reply, Failed):
            self._fail(reply.error)

    def _tabulate(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, GradientTable):
            self.table = reply
            self.table_changed.emit()
        self._complain(reply)

    def _add_node(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        """One node's check, in place of what is known of that node."""
        if isinstance(reply, GradientTable):
            self.table = with_nodes(self.table, reply)
            self.table_changed.emit()
        self._complain(reply)

    def _compared(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Compared):
            self.comparisons, self.unavailable = reply.comparisons, reply.unavailable
            self.compared.emit()
        self._complain(reply)

    def _list_devices(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, DeviceList):
            self.devices = tuple(reply.devices)
            self.devices_changed.emit()
            if any(device.asking for device in self.devices):
                QTimer.singleShot(ASK_AGAIN, self, self.ask_devices)


def _is_death(reply: Message) -> bool:
    return isinstance(reply, Failed) and reply.error.type == DEATH
