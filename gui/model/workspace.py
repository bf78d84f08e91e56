"""The one model that every view reads: document, selection, theme, and the debugger beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.document.unsaved_changes import has_work, is_same
from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import changes_between, continue_graph
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.model import Edge, Graph
from gradstep.core.host.remote_engine import EngineChoice
from gradstep.core.io.disk.file_stamp import OnDisk, look
from gradstep.core.io.disk.memory_budget import DEFAULT
from gradstep.core.io.formats.gradstep_document import SUFFIX, is_named_as_own
from gradstep.core.ops.declare.placeable_ops import placements
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types, flatten_loops
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Comparison,
    DeviceInfo,
    ErrorInfo,
    GradientTable,
    Message,
    ProgramInfo,
    Request,
    Stopped,
)
from gradstep.gui.look.theme import DARK, Theme
from gradstep.gui.model.amended_collections import AmendedDict
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.block_stacks import BlockStacks
from gradstep.gui.model.clicked_step import ClickedStep
from gradstep.gui.model.console_lines import ConsoleLines
from gradstep.gui.model.data_view import DataView
from gradstep.gui.model.debugger import Debugger, always
from gradstep.gui.model.device_recordings import DeviceRecordings
from gradstep.gui.model.engine_bridge import EngineBridge, EngineState
from gradstep.gui.model.event_trainings import EventReader
from gradstep.gui.model.expectation_state import Expected
from gradstep.gui.model.explanations import Explanations
from gradstep.gui.model.file_loader import Reader, infer_fed
from gradstep.gui.model.finiteness import Soundness
from gradstep.gui.model.followed_training import FollowedTraining
from gradstep.gui.model.foreseen import waiting_of
from gradstep.gui.model.gradient_states import GradientStates
from gradstep.gui.model.lint_findings import LintFindings
from gradstep.gui.model.profiler import Profiler
from gradstep.gui.model.python_output import Printed
from gradstep.gui.model.python_rights import PythonRights
from gradstep.gui.model.run_query import RunQuery
from gradstep.gui.model.session_list import SessionModel
from gradstep.gui.model.training import Training
from gradstep.gui.model.tried_document import EditedDocument
from gradstep.gui.model.tried_repairs import TriedRepairs
from gradstep.gui.model.undo import NONE, Edit, Selection
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.value_reader import ValueReader
from gradstep.gui.model.variant_comparison import VariantComparison
from gradstep.gui.model.window_requests import ShownPanel, WindowRequest

if TYPE_CHECKING:
    from gradstep.gui.model.sweep import Sweep

UNTITLED = f"untitled{SUFFIX}"
StripLevel = Literal["note", "warning", "error"]  # in a strip above the canvas
MessageLevel = StripLevel | Literal["info"]  # in the status bar
Failed = Callable[[GradstepError], None]
NOTHING = Inference(TensorTypes({}), {}, ())


def _ignore(*args: object) -> None:
    pass


def _known(name: str, doc: str) -> Any:
    """A property that reads an attribute of the debugger."""
    return property(attrgetter(f"debugger.{name}"), doc=doc)  # views ask thousands of times


class Workspace(QObject):
    """What is open and how it is looked at. Views connect to the signals, read the attributes,
    and change things through gradstep.gui.commands, which end in `edit`, `select` and `control`.

    document, path: the document and its file; path is None until it is saved, and for what was
                    imported or came with the program, which saving must not overwrite.
    read_from:      the file that was read or written last, imported ones too; None for none.
    name:           what the document is called, by its file.
    on_disk:        the document as a file holds it; None for work that no file holds.
    disk:           what the file at `path` held when it was last read or written; None without one.
    found_on_disk:  what another program made of that file, as far as it was noticed; None where it
                    is as it was.
    is_saving:      whether it is being written.
    recovered_from: name of the journal that the document was recovered from; "" for none.
    is_changed:     whether the document holds work that would be lost with it.
    is_open:        whether there is a document; without one, `document` is an empty one.
    reader:         reads files, and says which one it is reading.
    values:         reads values, which files hold or generators make.
    background:     work beside the main thread, for whoever has none of its own.
    shown:          the graph that is looked at: the document's, and what is in its loops.
    inference:      static types of `shown`, and problems of `document.graph`.
    selection:      names of the selected operations; selected_edge: the selected wire, or None.
    recordings:     of devices, that it can be compared with.
    permission:     what the document's Python may do (all when it has none).
    printed:        what its Python printed.
    profiler:       what was measured of it, and how that is looked at.
    expected:       what it expects of its runs, and what came.
    sessions:       its sessions, and which of them is shown.
    training:       training it, and the curves of that.
    events:         reads event files, as TensorBoard shows them.
    followed:       a PyTorch training elsewhere on this machine, if one is followed.
    data:           its data: what that offers, and what a run is fed of it.
    soundness:      whether the run that is looked at holds NaN or infinity.
    gradient_states: which of the gradients that it asks for are None, NaN, infinite or zero.
    whys:           why values and gradients are as they are at this stop.
    lints:          what the lints say of it, and of its runs.
    undo_stack:     Qt's stack of edits. Whether it is clean says nothing: a breakpoint is an edit.
    """

    document_opened = Signal()  # another document, or none; document_changed was sent before
    document_changing = Signal()  # to another one, at once: all still is as it was
    document_changed = Signal(object)  # gradstep.core.graph.changes.Changes
    renamed = Signal(object, object)  # old name -> new name, the document before; then it changes
    file_changed = Signal()  # path, saved or not, trusted or not
    program_changed = Signal()
    stopped = Signal()
    entered = Signal()  # a step into led into a loop; `stopped` was sent before
    values_changed = Signal()
    selection_changed = Signal()
    engine_changed = Signal(str)  # EngineState
    table_changed = Signal()
    compared = Signal()
    devices_changed = Signal()
    theme_changed = Signal()
    message = Signal(str, str)  # MessageLevel, one line of text; see `say`
    explained = Signal(object)  # messages.Explanation: what the last message was about
    fix_offered = Signal(str, object)  # what to do about the last message, and what does it
    view_requested = Signal(str, str)  # what only the window can do, to what; see `ask_window`
    block_requested = Signal(object, object, object)  # Block to be added, point, source or None

    def __init__(
        self, engine: EngineChoice = None, theme: Theme = DARK, parent: QObject | None = None
    ) -> None:
        """engine: what starts it; None for one on this machine."""
        super().__init__(parent)
        self.document = Document()
        self.path: Path | None = None
        self.read_from: Path | None = None
        self.name = ""
        self.on_disk: Document | None = self.document
        self.disk: OnDisk | None = None
        self.found_on_disk: OnDisk | None = None
        self.is_saving = False
        self.recovered_from = ""
        self.is_changed = False
        self.is_open = False
        self.shown = self.document.graph
        self.inference = NOTHING
        self.selection: tuple[str, ...] = ()
        self.selected_edge: Edge | None = None
        self.permission = Permission.FULL
        self.theme = theme
        self.undo_stack = QUndoStack(self)
        self.bridge = EngineBridge(engine, self)
        self.debugger = Debugger(self.bridge, self)
        self.printed = Printed(self)
        self.profiler = Profiler(self)
        self.training = Training(self)
        self.followed = FollowedTraining(self)
        self.events = EventReader(self)
        self.data = DataView(self)
        self.clicked = ClickedStep(self)
        self.expected = Expected(self)
        self.sessions = SessionModel(self)
        self.soundness = Soundness(self)
        self.whys = Explanations(self)
        self.repairs = TriedRepairs(self)
        self.edited_document = EditedDocument()
        self.lints = LintFindings(self)
        self.queries = RunQuery(self)
        self.variants = VariantComparison(self)
        self.recordings = DeviceRecordings(self)
        self.console = ConsoleLines(self)
        self.reader = Reader(self)
        self.stacks = BlockStacks(self)
        self.gradient_states = GradientStates(self)
        self.values = ValueReader(self)
        self.background = Background(self)
        self._rights = PythonRights(self.complain)
        self._waits: tuple[object, Mapping[str, Waiting]] | None = None
        self._placed: tuple[Graph, Mapping[str, str]] = self.document.graph, {}
        self._round = 0  # edits are merged only within one round; see `edit`
        self._forward_signals()

    # -- what the debugger knows --------------------------------------------------------------

    program: ProgramInfo | None = _known("program", "what the engine derived from the document")
    carried: AmendedDict[Edge, str] = _known("carried", "wire -> the tensor that goes back over it")
    stop: Stopped | None = _known("stop", "where it stands; None before the document was taken")
    failure: ErrorInfo | None = _known("failure", "why the last request failed, if it did")
    table: GradientTable | None = _known("table", "native, overridden and numeric gradients")
    comparisons: list[Comparison] = _known("comparisons", "of this document, node by node")
    unavailable: dict[str, str] = _known("unavailable", "device -> what is missing to compare it")
    devices: tuple[DeviceInfo, ...] = _known("devices", "what this machine has")
    device: str = _known("device", "name of the device that runs are made on")

    @cached_property
    def sweep(self) -> Sweep:
        """The sweep that is shown, and made; it takes more than a start should."""
        from gradstep.gui.model.sweep import Sweep

        return Sweep(self)

    @property
    def waits(self) -> Mapping[str, Waiting]:
        """Operation -> what it waits for, of what is not drawn to its end yet."""
        document = self.document
        key = document.graph, document.feeds, document.data
        if self._waits is None or self._waits[0] != key:
            self._waits = key, waiting_of(document)
        return self._waits[1]

    @property
    def placements(self) -> Mapping[str, str]:
        """Operation -> the device that computes it, of those that another than that of the run
        does."""
        graph = self.document.graph
        if self._placed[0] is not graph:
            self._placed = graph, placements(graph)
        return self._placed[1]

    @property
    def gradients_wait(self) -> bool:
        """Whether there will be gradients once something is finished: that there are none yet says
        nothing."""
        return bool(self.debugger.held_up)

    @property
    def is_idle(self) -> bool:
        """Whether all that was asked of the engine is answered and shown."""
        is_reading = self.values.is_reading or self.events.is_reading
        is_reading |= bool(self.reader.name or self.data.reading)
        return self.debugger.is_idle and self.is_told and not is_reading

    @property
    def is_told(self) -> bool:
        """Whether nothing is about to be asked of why things are, and what may be wrong."""
        return self.whys.is_idle and self.lints.is_idle

    @property
    def engine_state(self) -> EngineState:
        return self.bridge.state

    @property
    def engine_doing(self) -> str:
        """What the engine is at, in a word; "" where nothing is asked of it."""
        return self.bridge.doing

    def value(self, ref: str) -> TensorValue | None:
        """The tensor `ref` ("a" or "a:0") as of the current stop. None while it is on its way:
        asking is enough, and values_changed tells when it is here."""
        return self.debugger.value(ref)

    def gradient(self, ref: str) -> TensorValue | None:
        """The gradient that reaches the forward tensor `ref`; its state is "none" when there is
        none. None as in `value`."""
        return self.debugger.gradient(ref)

    def step_text(self, op: str) -> str:
        """What the step of an operation does, in mathematical notation; "" as None in `value`."""
        return "" if self.program is None else self.debugger.notations.text(op)

    def operands(self, op: str) -> Mapping[str, str] | None:
        """What stands for a tensor in that text -> that tensor. None as in `value`."""
        return None if self.program is None else self.debugger.notations.operands(op)

    def control(self, command: str, target: str = "", then: Callable[[], None] = _ignore) -> None:
        """Give the debugger a command of messages.Control; `stopped` follows, and then `then` is
        called."""
        self._round += 1
        before = self.stop

        def done() -> None:
            now = self.stop
            stood, stands = (0 if at is None else len(at.inside) for at in (before, now))
            if command == "step_into" and stands > stood:
                self.entered.emit()
            then()

        self.debugger.control(command, target, done)

    def request(
        self,
        message: Request,
        buffers: Sequence[Buffer] = (),
        then: Callable[[Message, tuple[Buffer, ...]], None] = _ignore,
        wanted: Callable[[], bool] = always,
    ) -> None:
        """Ask the engine; `then(reply, buffers)` is called on this thread, also with Failed.
        wanted: as of Debugger.request."""
        self.debugger.request(message, buffers, then, wanted)

    # -- the document -------------------------------------------------------------------------

    def edit(
        self,
        label: str,
        document: Document,
        merge_key: str = "",
        renamed: Mapping[str, str] = NONE,
    ) -> None:
        """Put `document` in force as one undoable step. Consecutive edits with the same merge key
        are one step, until the user selects, saves or runs something. One that changes nothing is
        none. renamed: old name -> new name of operations that are only called otherwise, and so
        stay selected."""
        document = self._continued(document)
        if is_same(document, self.document):
            return
        self._rights.edit(self.document, document)
        key = merge_key and f"{merge_key}#{self._round}"
        chosen, wire = self.selection, self.selected_edge
        edit = Edit(label, self.document, document, self._show, key, renamed)
        self.undo_stack.push(edit)
        gone = tuple(n for n in chosen if n not in self.shown and n not in renamed)
        edit.dropped = gone, wire if self.selected_edge is None else None

    def amend(self, document: Document) -> None:
        """Let the last edit lead to `document`: the user is still making it. It is an edit of its
        own where the last one is saved already, or another."""
        last = self._last_edit()
        if last is None or last.after is not self.document or self.document is self.on_disk:
            self.edit("Move", document)
        else:
            last.after = self._continued(document)
            self._show(last.after)

    def retract(self) -> None:
        """Take the last edit back as if it had never been made: there is nothing to redo."""
        last = self._last_edit()
        if last is not None and last.after is self.document:
            last.fleeting = True
            self.undo_stack.undo()

    def open_path(
        self,
        path: Path,
        then: Callable[[], None] = _ignore,
        failed: Failed | None = None,
        limit: int = DEFAULT,
    ) -> None:
        """Read a file of any supported format beside the main thread, then show it. failed: gets
        what went wrong; None for a message. limit: bytes of memory that it may take."""
        own = is_named_as_own(path) and EXAMPLES not in path.parents
        found: list[OnDisk] = []

        def first() -> None:
            with suppress(OSError):
                if own and path.stat().st_size <= limit:
                    found.append(look(path))

        def loaded(document: Document, inference: Inference) -> None:
            place, disk = (path, found[0] if found else None) if own else (None, None)
            self.open_document(document, place, inference, path.name, disk, read_from=path)
            then()

        self.reader.read(path, loaded, failed or self.complain, limit, first)

    def recover(
        self,
        load: Callable[[], Document],
        path: Path | None,
        name: str,
        disk: OnDisk | None,
        source: str,
        then: Callable[[], None] = _ignore,
        failed: Callable[[], None] = _ignore,
    ) -> None:
        """Show what `load` gives, called beside the main thread, as unsaved work on `path`, which
        held `disk`, or on no file yet, as `name`. source: the journal that holds it."""

        def loaded(document: Document, inference: Inference) -> None:
            self.open_document(document, path, inference, name, disk, source)
            then()

        def gave_up(error: GradstepError) -> None:
            failed()
            self.complain(error)

        self.reader.restore(name, load, loaded, gave_up)

    def open_document(
        self,
        document: Document,
        path: Path | None = None,
        inference: Inference | None = None,
        name: str = UNTITLED,
        disk: OnDisk | None = None,
        recovered_from: str = "",
        read_from: Path | None = None,
    ) -> None:
        """Show a document in place of the one that is open, whose edits are forgotten. disk: what
        the file at `path` held; recovered_from: the journal that holds this document, and no file
        does; read_from: the file that it was read from, where it is not `path`."""
        self.recovered_from, self.read_from = recovered_from, read_from or path
        self.name = path.name if path is not None else name
        self.disk, self.found_on_disk = disk, None
        self.on_disk = None if recovered_from else document
        self._replace(document, path, inference or infer_fed(document), is_open=True)

    def close_document(self) -> None:
        """Show none. Unsaved edits are the caller's business."""
        self.on_disk = self.disk = self.found_on_disk = self.read_from = None
        self._replace(Document(), None, NOTHING, is_open=False)

    def saved(
        self, path: Path, disk: OnDisk | None = None, document: Document | None = None
    ) -> None:
        """The document, as it is now or as it was when saving began, is in `path`, which holds
        `disk`."""
        self._round += 1
        self.path, self.name, self.disk, self.read_from = path, path.name, disk, path
        self.on_disk, self.found_on_disk = document or self.document, None
        self.is_changed = self._has_work()
        self._rights.save(self.on_disk, path)
        self.file_changed.emit()

    def reload(self, document: Document, disk: OnDisk) -> None:
        """The file holds another document now: show it, as an edit that undo takes back. Code that
        came with it is not the user's own, and not trusted for that."""
        self._round += 1
        self.on_disk, self.disk, self.found_on_disk = document, disk, None
        if not is_same(document, self.document):
            self.undo_stack.push(Edit("Reload", self.document, document, self._show))
        self.is_changed = False
        self.file_changed.emit()

    def keep_mine(self, disk: OnDisk) -> None:
        """The file holds `disk` now, and the user knows: what is open here is unsaved work."""
        self.on_disk, self.disk, self.is_changed = None, disk, True
        self.found_on_disk = None
        self.file_changed.emit()

    def notice_file(self, now: OnDisk) -> None:
        """The file at `path` holds `now`. Where that is not what was read from it or written to it,
        no file holds what is open here."""
        found = None if now == self.disk else now
        if found == self.found_on_disk:
            return
        self.found_on_disk = found
        self.is_changed = self._has_work()
        self.file_changed.emit()

    def give_up_changes(self) -> None:
        """From here on the document as it is now counts as saved."""
        self.on_disk, self.is_changed = self.document, False
        self.disk = self.found_on_disk = None
        self.sessions.give_up()

    @property
    def has_edits(self) -> bool:
        """Whether there is work that the file did not hold when it was last read or written."""
        return self.on_disk is None or has_work(self.document, self.on_disk)

    @property
    def trusted(self) -> bool:
        """Whether the document's Python may run."""
        return self.permission.runs

    @property
    def confined(self) -> bool:
        """Whether it runs without network and files only."""
        return self.permission is Permission.CONFINED

    def trust(self, permission: Permission = Permission.FULL) -> None:
        """The user decided what the document's Python, as it is now, may do. Raises
        GradstepError."""
        place = str(self.path) if self.path is not None else self.name
        self._rights.decide(self.document, permission, place)
        self._reconsider()

    def forget_trust(self, programs: Collection[str]) -> None:
        """The user revoked decisions, by fingerprint; perhaps one about this document."""
        self._rights.forget(programs)
        self._reconsider()

    # -- how it is looked at --------------------------------------------------------------------

    def select(self, names: Iterable[str], edge: Edge | None = None) -> None:
        """Select operations, or one wire, or nothing."""
        chosen = tuple(dict.fromkeys(names))
        if (chosen, edge) == (self.selection, self.selected_edge):
            return
        self._round += 1
        self.selection, self.selected_edge = chosen, edge
        self.selection_changed.emit()

    def set_theme(self, theme: Theme) -> None:
        if theme is not self.theme:
            self.theme = theme
            self.theme_changed.emit()

    def complain(self, error: GradstepError | ErrorInfo, level: MessageLevel = "error") -> None:
        """Show a failure, in one line, with what to do."""
        text, hint = error.message, error.hint
        if hint:
            text = f"{text.rstrip('.')}. {hint[0].upper()}{hint[1:]}"
        self.say(text, level)

    def say(self, text: str, level: MessageLevel = "info") -> None:
        """Tell the user in one line: in the status bar, or in a strip above the canvas."""
        self.message.emit(level, text)

    def offer_fix(self, title: str, run: Callable[[], None]) -> None:
        """What can be done about the last message by one click."""
        self.fix_offered.emit(title, run)

    @overload
    def ask_window(self, what: Literal["show"], target: ShownPanel) -> None: ...
    @overload
    def ask_window(self, what: WindowRequest, target: str = "") -> None: ...
    def ask_window(self, what: WindowRequest | Literal["show"], target: str = "") -> None:
        """Ask for what only the window can do; "show" brings a panel to the front."""
        self.view_requested.emit(what, target)

    def start(self) -> None:
        """Start the engine process; engine_changed follows."""
        self.bridge.start()
        self.debugger.ask_devices()

    def close(self) -> None:
        """End the engine, and what reads files; the workspace is of no use afterwards."""
        self.reader.close()
        self.followed.stop()
        if "sweep" in self.__dict__:
            self.sweep.stop()
        self.bridge.close()

    # -- inside ---------------------------------------------------------------------------------

    def _last_edit(self) -> Edit | None:
        index = self.undo_stack.index()
        last = self.undo_stack.command(index - 1) if index else None
        return last if isinstance(last, Edit) else None

    def _replace(
        self, document: Document, path: Path | None, inference: Inference, is_open: bool
    ) -> None:
        self.document_changing.emit()
        gone, came = frozenset(self.document.graph.operations), frozenset(document.graph.operations)
        self.undo_stack.clear()
        self.document, self.path, self.is_open = document, path, is_open
        self.is_changed = is_open and self._has_work()
        self._read_graph(inference)
        self._rights.open(document)
        self.permission = self._rights.permission(document)
        self.selection, self.selected_edge = (), None
        self.debugger.show(document if is_open else None, self.permission, soon=False)
        self.document_changed.emit(Changes(added=came, removed=gone))
        self.selection_changed.emit()
        self.file_changed.emit()
        self.document_opened.emit()
        self.reader.stop()
        self.values.stop()

    def _show(
        self,
        document: Document,
        renamed: Mapping[str, str] = NONE,
        back: Selection = ((), None),
    ) -> None:
        """An edit, its undo or its redo; see `Edit`."""
        self.document_changing.emit()
        before, self.document = self.document, document
        if with_placeholders(document).graph is not with_placeholders(before).graph:
            self._read_graph(infer_fed(document))
        if document.code is not before.code:
            self.permission = self._rights.permission(document)
            self.file_changed.emit()
        # First: what follows is shown with the engine's answer.
        self.debugger.show(document, self.permission)
        self._carry_selection(renamed, back)
        if renamed:
            self.renamed.emit(renamed, before)
        was_changed, self.is_changed = self.is_changed, self._has_work()
        self.document_changed.emit(changes_between(before.graph, document.graph))
        if was_changed != self.is_changed:
            self.file_changed.emit()

    def _continued(self, document: Document) -> Document:
        """`document` as an edit of the one that is open, with what is known of its graph."""
        graph = continue_graph(document.graph, self.document.graph)
        return document if graph is document.graph else document.with_(graph=graph)

    def _has_work(self) -> bool:
        return self.found_on_disk is not None or self.has_edits

    def _read_graph(self, inference: Inference) -> None:
        graph = self.document.graph
        self.shown, self.inference = flatten_loops(graph), flatten_loop_types(graph, inference)

    def _carry_selection(self, renamed: Mapping[str, str], back: Selection) -> None:
        """Let what is there still stay selected, under the name that it has now; where that is
        nothing, what is there again."""
        graph = self.shown
        chosen = [name for n in self.selection if (name := renamed.get(n, n)) in graph]
        wire = self.selected_edge
        if wire is not None:
            wire = self._wired(Edge(renamed.get(wire.op, wire.op), wire.index))
        if not chosen and wire is None:
            chosen, wire = [name for name in back[0] if name in graph], self._wired(back[1])
        self.select(chosen, wire)

    def _wired(self, wire: Edge | None) -> Edge | None:
        """It, where there is a wire."""
        if wire is None or wire.op not in self.shown:
            return None
        inputs = self.shown[wire.op].inputs
        return wire if wire.index < len(inputs) and inputs[wire.index] is not None else None

    def _reconsider(self) -> None:
        """Somebody decided about Python; the engine hears of it if this document's is meant."""
        before, self.permission = self.permission, self._rights.permission(self.document)
        if self.permission is not before:
            self.file_changed.emit()
            self.debugger.retrust(self.permission)

    def _forward_signals(self) -> None:
        for said, heard in (
            (self.debugger.program_changed, self.program_changed),
            (self.debugger.stopped, self.stopped),
            (self.debugger.values_changed, self.values_changed),
            (self.debugger.table_changed, self.table_changed),
            (self.debugger.compared, self.compared),
            (self.debugger.devices_changed, self.devices_changed),
        ):
            said.connect(heard)
        self.debugger.failed.connect(self.complain)
        self.bridge.state_changed.connect(self.engine_changed)
