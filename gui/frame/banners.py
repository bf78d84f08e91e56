"""The strips above the canvas: restricted mode, a dead engine, unsaved work, a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject, QTimer

from gradstep.core.protocol.messages import Explanation
from gradstep.gui import commands
from gradstep.gui.actions.dialog_table import ENGINE, TRUST, open_dialog
from gradstep.gui.frame.banner import Banner
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.autosave import Recovered
from gradstep.gui.model.engine_bridge import PREPARING, WORKING, EngineState
from gradstep.gui.model.workspace import UNTITLED, StripLevel, Workspace

LEVELS: Mapping[StripLevel, tuple[Tone, str]] = {  # colour and drawing of the strip
    "error": ("problem", "problem"),
    "warning": ("current", "warning"),
    "note": ("selection", "info"),
}

PATIENCE = 3000  # milliseconds that a command may take until the way out of it is shown
LONG = "This takes long."
PAUSE = "F6 stops at the next step."
ENDLESS = "A function that never returns is ended by restarting the engine, which comes back to \
the step before it."
STOPPED = "The engine process has stopped. Nothing in the document is lost; restarting comes back \
to the same step."


class Banners(QObject):
    """Each is hidden while there is nothing to say."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self.engine = Banner(workspace, "banner.engine", "problem", "problem")
        self.engine.add_button(
            "Restart engine", "banner.engine.restart", lambda: commands.restart_engine(workspace)
        )
        self._elsewhere = self.engine.add_button(
            "Engine…", "banner.engine.where", lambda: open_dialog(workspace, ENGINE)
        )
        self.restricted = Banner(workspace, "banner.restricted", "current", "restricted")
        self.restricted.add_button(
            "Review and trust…",
            "banner.restricted.review",
            lambda: open_dialog(workspace, TRUST),
        )
        self.recovery = Banner(workspace, "banner.recovery", "selection", "info")
        self._recover: Callable[[], None] = lambda: None
        self._discard: Callable[[], None] = lambda: None
        for text, name, answer in (
            ("Open it", "banner.recovery.open", lambda: self._recover()),
            ("Discard", "banner.recovery.discard", lambda: self._discard()),
        ):
            self.recovery.add_button(text, name, partial(self._answer, answer))
        self.recovery.add_close()
        self.file = Banner(workspace, "banner.file", "current", "warning")
        self._about_file: dict[str, Callable[[], None]] = {}
        self._of_file = [
            self.file.add_button(text, f"banner.file.{key}", partial(self._answer_file, key))
            for text, key in (("Reload", "reload"), ("Compare", "compare"), ("Keep mine", "keep"))
        ]
        self.message = Banner(workspace, "banner.message", "problem", "problem")
        self._level: StripLevel = "note"  # of the message
        self._outlasts = False  # whether the next stop is that of the edit which it is about
        self._go: Callable[[], None] = lambda: None
        self._first = self.message.add_button(
            "Take me to the first one", "banner.message.first", lambda: self._go()
        )
        self._try = self.message.add_button(
            "Try what mends it…", "banner.message.try", lambda: commands.try_offered(workspace)
        )
        self._run_fix: Callable[[], None] = lambda: None
        self._fix = self.message.add_button("Mend it", "banner.message.fix", self._mend)
        self.message.add_close()
        self.all = (self.engine, self.restricted, self.recovery, self.file, self.message)
        workspace.engine_changed.connect(self._engine)
        workspace.file_changed.connect(self._trust)
        workspace.explained.connect(self.offer_first)
        workspace.fix_offered.connect(self.offer_fix)
        workspace.stopped.connect(self._follow_stop)
        for signal in (workspace.document_opened, workspace.document_changed):
            signal.connect(self.message.hide)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE)
        self._patience.timeout.connect(self._show_way_out)
        self._engine(workspace.engine_state)
        self._trust()

    def say(self, level: StripLevel, text: str) -> None:
        """A note, a warning or an error, until the next thing that works."""
        self._first.hide()
        self._try.hide()
        self._fix.hide()
        self._level = level
        self._outlasts = level == "note" and not self._workspace.debugger.is_idle
        self.message.say(text, *LEVELS[level])

    def _follow_stop(self) -> None:
        """What was said is over, unless it was of the edit that led here."""
        if not self._outlasts:
            self.message.hide()
        self._outlasts = False

    def take_back_complaint(self) -> None:
        """Something else was done, and is said elsewhere; the answer to a question stays."""
        if self._level != "note":
            self.message.hide()

    def offer_first(self, found: Explanation) -> None:
        """The way to what led to that which the message explains, beside it."""
        self._go = partial(commands.go_to_first, self._workspace, found)
        self._first.setVisible(commands.is_elsewhere(self._workspace, found))
        self._try.setVisible(bool(found.remedies))

    def offer_fix(self, title: str, run: Callable[[], None]) -> None:
        """What mends that which the message complains of, beside it."""
        self._run_fix = run
        self._fix.setText(title)
        self._fix.setAccessibleName(title)
        self._fix.show()

    def _mend(self) -> None:
        self.message.hide()
        self._run_fix()

    def say_changed(self, is_there: bool, answers: dict[str, Callable[[], None]]) -> None:
        """The file was changed by another program, or it is there no more. answers: what the
        buttons do, by "reload", "compare" and "keep"."""
        self._about_file = answers
        for button in self._of_file[:2]:
            button.setVisible(is_there)
        name, changed = self._workspace.name, self._workspace.has_edits
        if not is_there:
            text = f"{name} was deleted or moved by another program. The document is open here."
        elif changed:
            text = f"{name} was changed by another program, and there are unsaved edits here."
        else:
            text = f"{name} was changed by another program."
        self.file.say(text)

    def _answer_file(self, key: str) -> None:
        if key != "compare":
            self.file.hide()
        self._about_file[key]()

    def offer(
        self,
        found: Recovered,
        recover: Callable[[], None],
        discard: Callable[[], None],
        more: int = 0,
    ) -> None:
        """Unsaved work of a window that is gone. more: how many others are offered after it."""
        self._recover, self._discard = recover, discard
        when = f"{found.when:%d %B, %H:%M}"
        what = "an unsaved document" if found.name == UNTITLED else found.name
        others = f" {more} more {'follow' if more > 1 else 'follows'}." if more else ""
        self.recovery.say(f"Unsaved edits of {what}, from {when}, were kept.{others}")

    def _answer(self, what: Callable[[], None]) -> None:
        self.recovery.hide()
        what()

    def _engine(self, state: EngineState) -> None:
        if state == "dead":
            self._elsewhere.setVisible(bool(self._workspace.bridge.machine))
            self.engine.say(self._why_stopped(), "problem", "problem")
        else:
            self.engine.hide()
        if state == "busy":
            self._patience.start()
        else:
            self._patience.stop()

    def _why_stopped(self) -> str:
        """Of one on another machine, what happened to it."""
        machine, error = self._workspace.bridge.machine, self._workspace.bridge.death
        if not machine or error is None:
            return STOPPED
        what = error.message.rstrip(".")
        if not what.startswith(machine):
            what = what[:1].upper() + what[1:]
        do = f" {error.hint[:1].upper()}{error.hint[1:]}." if error.hint else ""
        return f"{what}.{do} Nothing in the document is lost."

    def _show_way_out(self) -> None:
        """What can be done about work that takes long, where there is something: preparing a graph
        ends by itself, unless a function of the document's is called for it."""
        ways: list[str] = []
        if self._workspace.training.busy:
            return  # it is to take long, and says how long
        if self._workspace.engine_doing not in (PREPARING, WORKING):
            ways.append(PAUSE)
        if self._workspace.document.code and self._workspace.trusted:
            ways.append(ENDLESS)
        if ways:
            self._elsewhere.hide()
            self.engine.say(" ".join((LONG, *ways)), "current", "warning")

    def _trust(self) -> None:
        if self._workspace.trusted:
            self.restricted.hide()
        else:
            self.restricted.say(
                "Restricted mode: this document contains Python, which does not run until you "
                "trust it."
            )
