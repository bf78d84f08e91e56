"""Why values and gradients are as they are at this stop: asked of the engine, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.autodiff.explain.gradient_paths import find_reached
from gradstep.core.document.requests import every_request
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Explained,
    Explanation,
    Failed,
    Message,
    Why,
)
from gradstep.gui.model.loss_choice import shown_loss
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.value_cache import TensorValue

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

PAUSE = 120  # milliseconds; who steps, or moves through nodes, does not want an answer each time

MOST = 4  # of the inspector, which shows two, and of the problems

Notable = Literal["nan", "inf", "zero"]  # what a tensor is, of which one asks why
Question = tuple[str, str]  # of, and with respect to what: "" for the value


def _ignore(found: Explanation) -> None:
    pass


class Answer(NamedTuple):
    """What was said to a question, which is as of Why."""

    of: str
    wrt: str
    found: Explanation

    @property
    def shows(self) -> bool:
        """Whether a smaller graph can show it."""
        found = self.found
        return found.state != "ok" and found.cause not in ("", "waiting")


class Explanations(QObject):
    """Explanations as of the current stop.

    changed: there is another answer; gave_way: a question gave way, and who still wants to know
    says so again.
    said: the last that was said in words, in this document.
    """

    changed = Signal()
    gave_way = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._known: dict[Question, Explanation] = {}
        self._asked: set[Question] = set()
        self._wanted: dict[Question, None] = {}
        self._answers = PendingAnswers(workspace)
        self.said: Answer | None = None
        self._soon = QTimer(self, singleShot=True, interval=PAUSE)
        self._soon.timeout.connect(self._ask_wanted)
        workspace.stopped.connect(self._forget)
        workspace.program_changed.connect(self._forget)
        workspace.document_opened.connect(self._unsay)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is about to be asked."""
        return not self._soon.isActive()

    def known(self, of: str, wrt: str = "") -> Explanation | None:
        """The answer, if it is here."""
        return self._known.get((of, wrt))

    def want(self, of: str, wrt: str = "") -> Explanation | None:
        """The answer, or None while it is on its way: `changed` tells when it is here. It is asked
        for after a pause; of what was wanted before it only the last few."""
        question = of, wrt
        if question not in self._known and question not in self._asked:
            self._wanted[question] = None
            self._soon.start()
        return self.known(of, wrt)

    def ask(self, of: str, wrt: str = "", then: Callable[[Explanation], None] = _ignore) -> None:
        """Ask for the answer now; `then` gets it."""
        known = self.known(of, wrt)
        if known is not None:
            then(known)
        else:
            self._ask((of, wrt), then, is_awaited=True)

    def _ask(
        self,
        question: Question,
        then: Callable[[Explanation], None] = _ignore,
        is_awaited: bool = False,
    ) -> None:
        """is_awaited: until it is answered, or the debugger goes on; else until it gives way."""
        self._asked.add(question)

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, Explained | Failed):
                found = reply.explanation if isinstance(reply, Explained) else _not_told(reply)
                self._known[question] = found
                self.changed.emit()
                then(found)
            else:
                self._asked.discard(question)
                self.gave_way.emit()

        names = (TensorRef.parse(name).short for name in filter(None, question))
        message = Why(of=next(names), wrt=next(names, ""))
        self._answers.ask(message, answered, lambda: is_awaited)

    def _ask_wanted(self) -> None:
        wanted, self._wanted = list(self._wanted), {}
        for question in wanted[-MOST:]:
            self._ask(question)

    def _forget(self) -> None:
        self._answers.forget()
        self._known, self._asked, self._wanted = {}, set(), {}
        self._soon.stop()

    def _unsay(self) -> None:
        self.said = None


def _not_told(reply: Failed) -> Explanation:
    """What is said where the question cannot be answered."""
    text = ". ".join(filter(None, (reply.error.message.rstrip("."), reply.error.hint)))
    return Explanation(state="none", cause="", node=None, index=None, path=[], text=f"{text}.")


def state_of(value: TensorValue | None) -> Notable | Literal["none", ""]:
    """What there is to ask about a tensor: "nan", "inf", "zero" (all of it) or "none"; "" for
    nothing, also while it is not known."""
    if value is None:
        return ""
    if value.state == "none":
        return "none"
    stats = value.stats
    if value.state != "known" or stats is None:
        return ""
    if stats.nans or stats.infs:
        return "nan" if stats.nans else "inf"
    return "zero" if stats.zeros == value.size > 0 else ""


def find_differentiated(workspace: Workspace, ref: TensorRef) -> TensorRef | None:
    """That whose gradient with respect to `ref` is shown: of what is asked for by `ref`, or else at
    all, the first that it leads to; None where nothing is differentiated."""
    document = workspace.document
    asked = every_request(document)
    by_it = [y for request in asked if ref in request.wrt for y in request.of]
    ends = by_it or [y for request in asked for y in request.of]
    shown = shown_loss(workspace.program)
    ends.sort(key=lambda y: y.short != shown)
    return find_reached(document.graph, ref, ends) if ends else None
