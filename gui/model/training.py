"""Training as the window sees it: what is asked for, how far it is, and the curves so far."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from gradstep.core.document.document import Document
from gradstep.core.document.requests import minimized
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Control,
    ErrorInfo,
    Failed,
    Message,
    Train,
    Trained,
    TrainingProgress,
)
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.engine_sync import same_run

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

STEPS, EPOCHS = 200, 5  # at first
MOST_STEPS = 1_000_000_000


@dataclass(eq=False)
class Curve:
    """text: the expression; title: its name in the panel; op: where it is on the canvas; tone: the
    colour; validates: the tensor whose mean it is over the rows that are held back; points: of this
    training; before: of the one before it, on another program or from another start."""

    text: str
    title: str
    op: str = ""
    tone: Tone = "forward"
    validates: str = ""
    points: Points = field(default_factory=Points)
    before: Points = field(default_factory=Points)


class Training(QObject):
    """steps, epochs, until: what is asked for, epochs where `by_epochs`; curves: what is followed;
    busy: it is under way; made, total: how many steps of how many; rate: steps a second; ended: why
    it was over before; failure: why it could not begin."""

    changed = Signal()  # anything but the points
    grew = Signal()  # the points

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.steps, self.until = STEPS, ""
        self.epochs, self.by_epochs = EPOCHS, False
        self.curves: list[Curve] = []
        self.busy = False
        self.made = self.total = 0
        self.rate = 0.0
        self.ended = ""
        self.failure: ErrorInfo | None = None
        self._workspace = workspace
        self._chosen: list[Curve] = []  # those that the numbers under way are of
        self._losses: tuple[str, ...] = ()
        self._validates = False  # whether there are rows that are held back
        self._trained: Document | None = None  # what the points are of
        self._asked_of = workspace.document  # what is being trained
        self._begun = 0.0
        workspace.document_opened.connect(self._forget)
        workspace.document_changed.connect(self._note_edit)
        workspace.program_changed.connect(self._note_program)
        workspace.bridge.event_received.connect(self._take_progress)

    @property
    def last(self) -> int:
        """The last step that a point is known of; -1 for none."""
        return max((curve.points.stop - 1 for curve in self.curves), default=-1)

    @property
    def per_epoch(self) -> int:
        """Steps until all rows of the document's data were fed; 0 where it has none."""
        program = self._workspace.program
        return 0 if program is None else program.data.per_epoch

    @property
    def wanted(self) -> int:
        """How many steps are asked for."""
        if not (self.by_epochs and self.per_epoch):
            return self.steps
        return min(self.epochs * self.per_epoch, MOST_STEPS)

    @property
    def remaining(self) -> float:
        """Seconds until all steps are made; infinite while that is not known."""
        return (self.total - self.made) / self.rate if self.rate else np.inf

    # -- what is followed ----------------------------------------------------------------------

    def follow(self, curve: Curve) -> None:
        """Draw it from the next step on; the one that says the same already, if there is."""
        if all(curve.text != other.text for other in self.curves):
            self.curves = [*self.curves, curve]
            self.changed.emit()

    def drop(self, curve: Curve) -> None:
        """Follow it no longer."""
        self.curves = [other for other in self.curves if other is not curve]
        self.changed.emit()

    def value_curve(self, ref: TensorRef) -> Curve:
        """Of a tensor: itself if it is one number, else its norm."""
        own = f'x["{ref}"]'
        if self._is_scalar(ref):
            return Curve(own, ref.short, ref.op)
        tone: Tone = "update" if self._type(ref) in VARIABLES else "forward"
        return Curve(f"norm({own})", f"‖{ref.short}‖", ref.op, tone)

    def gradient_curves(self) -> list[Curve]:
        """The norms of the gradients that runs compute of variables."""
        program = self._workspace.program
        refs = [TensorRef.parse(name) for name in program.gradients] if program is not None else []
        return [
            Curve(f'norm(grad["{ref}"])', f"‖∂ {ref.short}‖", ref.op, "backward")
            for ref in refs
            if self._type(ref) in VARIABLES
        ]

    # -- training ------------------------------------------------------------------------------

    def train(self) -> None:
        """Make the steps that are asked for, from the newest one on."""
        if self.busy or self._workspace.program is None:
            return
        self._follow_losses()
        told = [curve for curve in self.curves if not curve.validates]
        held = [curve for curve in self.curves if curve.validates]
        self._chosen, self._asked_of = [*told, *held], self._workspace.document
        self.busy, self.made, self.total, self.rate = True, 0, self.wanted, 0.0
        self.ended, self.failure, self._begun = "", None, time.monotonic()
        self.changed.emit()
        texts = [curve.text for curve in told]
        losses = [str(ref) for ref in self._minimized()]
        validate = [curve.validates for curve in held]
        wish = Train(
            steps=self.total, curves=texts, until=self.until, losses=losses, validate=validate
        )
        self._workspace.debugger.train(wish, self._take)

    def _take(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        self.busy = False
        if isinstance(reply, Trained):
            self.made, self.ended = reply.made, reply.ended
        elif isinstance(reply, Failed):
            self.failure = reply.error
        self.changed.emit()

    def _take_progress(self, event: object) -> None:
        if not isinstance(event, TrainingProgress) or not self.busy:
            return
        document = self._workspace.document
        if event.first <= self.last or not self._are_of(document):
            self._begin_anew()
        self._trained = document
        for curve, column in zip(self._chosen, event.columns, strict=True):
            curve.points.put(event.first, np.frombuffer(column))
        self.made += event.count
        self.rate = self.made / max(time.monotonic() - self._begun, 1e-3)
        self.grew.emit()

    def _are_of(self, document: Document) -> bool:
        """Whether what there is would be the same of this document."""
        return self._trained is not None and same_run(self._trained, document)

    def _begin_anew(self) -> None:
        """What comes does not go on from what there is."""
        for curve in self.curves:
            if len(curve.points):
                curve.before, curve.points = curve.points, Points()

    # -- what happens elsewhere ----------------------------------------------------------------

    def _forget(self) -> None:
        """Another document."""
        self.steps, self.until, self.curves, self._losses = STEPS, "", [], ()
        data = self._workspace.document.data
        self.epochs, self.by_epochs = (EPOCHS, False) if data is None else (data.epochs, True)
        self.made = self.total = 0
        self.busy, self.ended, self.failure, self._trained = False, "", None, None
        self._validates = False
        self._follow_losses()
        self.changed.emit()

    def _note_edit(self, changes: object) -> None:
        """An edit ends it, or would have to wait until all steps are made."""
        if self.busy and not same_run(self._asked_of, self._workspace.document):
            self._workspace.bridge.send(Control(command="pause"))  # before the engine gets the edit

    def _note_program(self) -> None:
        if self._workspace.engine_state == "dead":
            self.busy = False
        self._follow_losses()
        self.changed.emit()

    def _follow_losses(self) -> None:
        """Follow what is minimized, unless the user has dropped it."""
        document = self._workspace.document
        losses = tuple(str(ref) for ref in self._minimized() if ref.op in document.graph)
        for name in losses:
            if name not in self._losses:
                self.follow(self._loss_curve(TensorRef.parse(name)))
        self._losses = losses
        self._follow_validation()
        known = [curve for curve in self.curves if not curve.op or curve.op in document.graph]
        if len(known) < len(self.curves):
            self.curves = known

    def _follow_validation(self) -> None:
        """The losses over the rows that are held back, where there are such; unless the user has
        dropped them."""
        program = self._workspace.program
        held = bool(program is not None and program.data.held)
        if held and not self._validates:
            for name in self._losses:
                ref = TensorRef.parse(name)
                title = f"{ref.short}, held back"
                self.follow(Curve(f"validation {name}", title, ref.op, validates=name))
        elif program is not None and not held:
            self.curves = [curve for curve in self.curves if not curve.validates]
        if program is not None:
            self._validates = held

    def _loss_curve(self, ref: TensorRef) -> Curve:
        """Of what is minimized: the sum of its elements, where it has several."""
        if self._is_scalar(ref):
            return self.value_curve(ref)
        return Curve(f'sum(x["{ref}"])', f"Σ {ref.short}", ref.op)

    def _minimized(self) -> Iterable[TensorRef]:
        """What training makes small; where nothing is known to be that, the numbers that are
        fetched."""
        document, types = self._workspace.document, self._workspace.inference.types
        fetched = ((ref, types.get(ref)) for ref in document.fetches)
        numbers = [ref for ref, kind in fetched if kind is not None and kind.dtype.is_number]
        return minimized(document) or numbers

    def _is_scalar(self, ref: TensorRef) -> bool:
        found = self._workspace.inference.types.get(ref)
        return found is not None and found.shape.dims == ()

    def _type(self, ref: TensorRef) -> str:
        graph = self._workspace.document.graph
        return graph[ref.op].type if ref.op in graph else ""
