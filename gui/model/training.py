"""Training as the window sees it: what is asked for, how far it is, and the curves so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from gradstep.core.debug.breaks.expression_names import rename_operations, rename_tensor
from gradstep.core.debug.breaks.layer_curves import Family, Trainable
from gradstep.core.document.document import Document
from gradstep.core.document.requests import minimized
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.random_ops import draws_by_name, is_random
from gradstep.core.protocol.branch_queries import current_branch
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    CheckCurves,
    Control,
    CurvesChecked,
    ErrorInfo,
    Failed,
    Message,
    ProgramInfo,
    Train,
    Trained,
    TrainingProgress,
)
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.curve_histories import CurveHistories
from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.engine_sync import same_run
from gradstep.gui.model.error_words import words
from gradstep.gui.model.followed_histograms import (
    FollowedHistograms,
    histogram_of,
    histograms_of,
)
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.run_history import RunHistory
from gradstep.gui.model.sampled_points import SampledPoints
from gradstep.gui.model.training_curve import Curve, held_text

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

STEPS, EPOCHS = 200, 5  # at first
SHARE = 0.03  # of the time, for what is looked at closely
MOST_STEPS = 1_000_000_000
NOT_ASKED = -2  # for a run that is made already


TONES: Mapping[Family, Tone] = {"gradient": "backward", "ratio": "update"}


class Training(QObject):
    """steps, epochs, until, patience: what is asked for, epochs where `by_epochs`; curves: what is
    followed; always: in every step, however long that takes; earlier: trainings of other runs than
    those that are shown;
    busy: it is under way; made, total: how many steps of how many; rate: steps a second; ended: why
    it was over before; histograms: what is followed by its histograms; surface: whether somebody
    looks at the decision surface; failure: why it could not begin."""

    changed = Signal()  # anything but the points
    grew = Signal()  # the points

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.steps, self.until = STEPS, ""
        self.epochs, self.by_epochs = EPOCHS, False
        self.curves: list[Curve] = []
        self._aside: list[Curve] = []  # whose operations are not there, unless an undo brings them
        self.busy = False
        self.made = self.total = 0
        self.rate = 0.0
        self.ended = ""
        self.misread = ""  # what is wrong with the numbers that are being typed
        self.failure: ErrorInfo | None = None
        self._workspace = workspace
        self.always, self.patience = False, 0
        self.surface = False
        self._histories = CurveHistories(RunHistory(workspace.document))
        self.earlier = self._histories.earlier
        self.histograms = FollowedHistograms()
        self._chosen: list[Curve] = []  # those that the numbers under way are of
        self._closely: list[Curve] = []  # and those that are looked at in some steps
        self._asked_of = self._histories.now  # the runs that are being made
        self._points: list[Points] = []  # of `_chosen`, whatever is shown meanwhile
        self._sampled: list[SampledPoints] = []  # of `_closely`
        self._losses: tuple[str, ...] = ()
        self._validates = False  # whether there are rows that are held back
        self._begun = 0.0
        self._checks = 0  # how often it was wanted to be known what cannot be followed
        self._answers = PendingAnswers(workspace)
        workspace.document_opened.connect(self._forget)
        workspace.renamed.connect(self._rename)
        workspace.document_changed.connect(self._note_edit)
        workspace.program_changed.connect(self._note_program)
        workspace.stopped.connect(self._note_stop)
        workspace.bridge.event_received.connect(self._take_progress)

    @property
    def last(self) -> int:
        """The last step that a point is known of; -1 for none."""
        return max((curve.points.stop - 1 for curve in self.curves), default=-1)

    @property
    def first(self) -> int:
        """The first step that a point is known of."""
        known = (curve.points for curve in self.curves if len(curve.points))
        return min((points.first for points in known), default=0)

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

    def check(self, text: str, then: Callable[[str], None]) -> None:
        """Ask whether an expression can be followed: `then` is told soon what is wrong with it, ""
        for nothing."""

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, CurvesChecked):
                then(_said(reply.wrong.get(text)))
            else:
                then(_said(reply.error) if isinstance(reply, Failed) else "")

        self._workspace.request(self._question([text]), (), answered)

    def follow_value(self, ref: TensorRef) -> None:
        """Draw what a tensor is; where that is a number of the rows that are fed, as an accuracy
        is, over the rows that are held back as well."""
        self.follow(self.value_curve(ref))
        if self._validates and self._is_of_rows(ref):
            self.follow(_held_curve(ref))

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

    def layer_curves(self, family: Family) -> list[Curve]:
        """What can be followed of layers, of one kind."""
        program = self._workspace.program
        if program is None:
            return []
        found = trainable(self._workspace.document.graph, program).curves(family)
        tone = TONES.get(family, "forward")
        return [Curve(each.text, each.title, each.op, tone, family) for each in found]

    def follow_layers(self, family: Family) -> None:
        """Draw all of one kind from the next step on."""
        known = {curve.text for curve in self.curves}
        new = [curve for curve in self.layer_curves(family) if curve.text not in known]
        if new:
            self.curves = [*self.curves, *new]
            self.changed.emit()

    def drop_layers(self, family: Family) -> None:
        """Follow none of one kind any longer."""
        self.curves = [curve for curve in self.curves if curve.family != family]
        self.changed.emit()

    def follows(self, family: Family) -> list[Curve]:
        """What is followed of layers, of one kind."""
        return [curve for curve in self.curves if curve.family == family]

    def follow_histograms(self, kind: str) -> None:
        """Make the histograms of all tensors of a kind of KINDS from the next step on."""
        program = self._workspace.program
        if program is None:
            return
        found = trainable(self._workspace.document.graph, program)
        if self.histograms.follow(histograms_of(found, kind)):
            self.changed.emit()

    def follow_histogram(self, ref: TensorRef) -> None:
        """Make that of one tensor."""
        if self.histograms.follow([histogram_of(ref)]):
            self.changed.emit()

    def drop_histograms(self, kind: str) -> None:
        """Follow none of a kind any longer."""
        self.histograms.drop(kind)
        self.changed.emit()

    # -- training ------------------------------------------------------------------------------

    def train(self) -> None:
        """Make the steps that are asked for, from the newest one on."""
        if self.busy or self._workspace.program is None:
            return
        if self.misread:
            self._workspace.say(self.misread, "warning")
            return
        self._follow_losses()
        self._closely = [curve for curve in self.curves if curve.is_close]
        told = [curve for curve in self.curves if not (curve.is_close or curve.validates)]
        held = [curve for curve in self.curves if curve.validates]
        self._chosen, self._asked_of = [*told, *held], self._histories.now
        self.busy, self.made, self.total, self.rate = True, 0, self.wanted, 0.0
        self.ended, self.failure, self._begun = "", None, time.monotonic()
        self._note_points()
        self.changed.emit()
        texts = [curve.text for curve in told]
        losses = [str(ref) for ref in self._minimized()]
        wish = Train(
            steps=self.total,
            curves=texts,
            until=self.until,
            losses=losses,
            validate=[curve.validates for curve in held],
            patience=self.patience,
            closer=[curve.text for curve in self._closely],
            share=1.0 if self.always else SHARE,
            spread=self.histograms.begin(),
            surface=self.surface,
            known=self._known,
        )
        self._workspace.debugger.train(wish, self._take)

    @property
    def _known(self) -> int:
        """The last run that curves go on from: a branch has made the next one as it begins. Where
        nothing is known, what was run by hand before is no training."""
        return self.last if self.last >= 0 or self._histories.now.lineage else NOT_ASKED

    def _take(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        self.busy = False
        if isinstance(reply, Trained):
            self.made, self.ended = reply.made, reply.ended
            for curve in (*self._chosen, *self._closely):
                curve.problem = _said(reply.wrong.get(curve.text))
            if self.lost is not None:
                self._workspace.clicked.look(reply.stopped.run)
        elif isinstance(reply, Failed):
            self.failure = reply.error
        self.changed.emit()

    @property
    def lost(self) -> TensorRef | None:
        """The loss that ended it, as it is NaN or infinite; None where nothing of that kind did."""
        if not self.ended:
            return None
        known = {curve.text: curve.points.numbers for curve in self.curves}
        for ref in self._minimized():
            numbers = known.get(self._loss_curve(ref).text)
            if numbers is not None and len(numbers) and not np.isfinite(numbers[-1]):
                return ref
        return None

    def _take_progress(self, event: object) -> None:
        if not isinstance(event, TrainingProgress) or not self.busy:
            return
        if self._histories.now is self._asked_of and event.first <= self.last:
            self._histories.begin_anew(self._every, self.histograms.followed)
            self._note_points()
        for points, column in zip(self._points, event.columns, strict=True):
            points.put(event.first, np.frombuffer(column))
        self._put_looks(event)
        self.histograms.take(event)
        self.made += event.count
        self.rate = self.made / max(time.monotonic() - self._begun, 1e-3)
        self.grew.emit()

    def _put_looks(self, event: TrainingProgress) -> None:
        looks = np.frombuffer(event.looks, np.int64)
        rows = np.frombuffer(event.closer).reshape(len(looks), len(self._sampled))
        for points, column in zip(self._sampled, rows.T, strict=True):
            points.put(looks, column)

    def _note_points(self) -> None:
        """What a training tells goes there, also while other runs are shown than it makes."""
        every = [curve.points for curve in (*self._chosen, *self._closely)]
        self._points = [points for points in every if isinstance(points, Points)]
        self._sampled = [points for points in every if isinstance(points, SampledPoints)]
        self.histograms.note_points()

    # -- whose points are shown ----------------------------------------------------------------

    @property
    def _every(self) -> list[Curve]:
        """Those that are drawn, and those that are put aside."""
        return [*self.curves, *self._aside]

    def _turn(self, now: RunHistory) -> None:
        """Show the points of these runs."""
        is_asked = self._histories.now is self._asked_of
        if self._histories.turn_to(now, self._every, self.histograms.followed):
            self.changed.emit()
        elif is_asked:
            self._asked_of = self._histories.now

    def _note_stop(self) -> None:
        """Where the debugger stands tells which branch of which session is shown."""
        space, stop = self._workspace, self._workspace.stop
        if stop is None:
            return
        self._turn(
            replace(
                self._histories.now,
                session=space.sessions.current,
                lineage=tuple(stop.lineage),
                branch=current_branch(stop.branches),
            )
        )

    def _turn_to_document(self) -> None:
        space, document = self._workspace, self._workspace.document
        runs_code = space.permission.runs or not document.code
        device = space.debugger.device
        now = self._histories.now
        self._turn(replace(now, document=document, device=device, runs_code=runs_code))

    def _rename(self, renamed: Mapping[str, str], before: Document) -> None:
        """Operations are called otherwise now: curves follow, with all that is known of them. They
        are of the same runs, unless the names are what random numbers are drawn by."""

        def name_of(name: str) -> str:
            return renamed.get(name, name)

        every = self._every
        new = {curve: curve.renamed(name_of) for curve in {*every, *self._chosen, *self._closely}}
        self.curves = [new[curve] for curve in self.curves]
        self._aside = [new[curve] for curve in self._aside]
        self._chosen = [new[curve] for curve in self._chosen]
        self._closely = [new[curve] for curve in self._closely]
        self._losses = tuple(rename_tensor(name, name_of) for name in self._losses)
        self.until = rename_operations(self.until, name_of)
        self.histograms.rename(name_of)
        self._histories.rename(name_of)
        if not _draws_under(self._workspace.shown, frozenset(renamed.values())):
            self._histories.carry(before, self._workspace.document)

    # -- what cannot be followed ---------------------------------------------------------------

    def _question(self, texts: Sequence[str]) -> CheckCurves:
        return CheckCurves(texts=[*texts], losses=[str(ref) for ref in self._minimized()])

    def _check_all(self) -> None:
        """Ask which curves an edit has made wrong, or right again; of the losses training tells.
        Not before the engine has the edits that were made meanwhile: asking would give it them."""
        number = self._checks = self._checks + 1

        def ask() -> None:
            texts = [curve.text for curve in self.curves if not curve.validates]
            losses = {self._loss_curve(TensorRef.parse(name)).text for name in self._losses}
            is_known = self._workspace.program is not None
            if is_known and number == self._checks and not losses.issuperset(texts):
                self._answers.ask_alone(self._question(texts), self._checked)

        self._workspace.debugger.later(ask)

    def _checked(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if not isinstance(reply, CurvesChecked):
            return
        before = [curve.problem for curve in self.curves]
        for curve in self.curves:
            curve.problem = _said(reply.wrong.get(curve.text))
        if before != [curve.problem for curve in self.curves]:
            self.changed.emit()

    # -- what happens elsewhere ----------------------------------------------------------------

    def _forget(self) -> None:
        """Another document."""
        self.steps, self.until, self.curves, self._losses = STEPS, "", [], ()
        self._aside = []
        data = self._workspace.document.data
        self.epochs, self.by_epochs = (EPOCHS, False) if data is None else (data.epochs, True)
        self.patience, self.misread = 0, ""
        self.made = self.total = 0
        self.busy, self.ended, self.failure = False, "", None
        self._validates = False
        self._histories.clear(RunHistory(self._workspace.document))
        self.histograms.clear()
        self._follow_losses()
        self.changed.emit()

    def _note_edit(self, changes: object) -> None:
        """An edit ends it, or would have to wait until all steps are made."""
        if self.busy and not same_run(self._asked_of.document, self._workspace.document):
            self._workspace.bridge.send(Control(command="pause"))  # before the engine gets the edit
        self._turn_to_document()

    def _note_program(self) -> None:
        if self._workspace.engine_state == "dead":
            self.busy = False
        self._turn_to_document()
        self._follow_losses()
        self.changed.emit()
        self._check_all()

    def _follow_losses(self) -> None:
        """Follow what is minimized, unless the user has dropped it."""
        document = self._workspace.document
        self._follow_graph(document.graph)
        losses = tuple(str(ref) for ref in self._minimized() if ref.op in document.graph)
        for name in losses:
            if name not in self._losses:
                self.follow(self._loss_curve(TensorRef.parse(name)))
        self._losses = losses
        self._follow_validation()
        self.histograms.drop_lost(document.graph)

    def _follow_graph(self, graph: Graph) -> None:
        """Put curves aside whose operation is not there, until an undo brings it back."""
        texts = {curve.text for curve in self.curves}
        every = [*self.curves, *(curve for curve in self._aside if curve.text not in texts)]
        there = [curve for curve in every if not curve.op or curve.op in graph]
        self._aside = [curve for curve in every if curve.op and curve.op not in graph]
        if there != self.curves:
            self.curves = there

    def _follow_validation(self) -> None:
        """The losses over the rows that are held back, where there are such; unless the user has
        dropped them."""
        program = self._workspace.program
        held = bool(program is not None and program.data.held)
        if held and not self._validates:
            for name in self._losses:
                self.follow(_held_curve(TensorRef.parse(name)))
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

    def _is_of_rows(self, ref: TensorRef) -> bool:
        """Whether it is one number, not whole, that is computed of the document's data."""
        document, kind = self._workspace.document, self._workspace.inference.types.get(ref)
        if kind is None or not (self._is_scalar(ref) and kind.dtype.is_floating):
            return False
        fed = {TensorRef.parse(name).op for name in document.columns}
        return not fed.isdisjoint(document.graph.ancestors([ref.op]))

    def _type(self, ref: TensorRef) -> str:
        graph = self._workspace.document.graph
        return graph[ref.op].type if ref.op in graph else ""


def _held_curve(ref: TensorRef) -> Curve:
    """The mean of a number over the rows that are held back, after each epoch."""
    return Curve(held_text(str(ref)), f"{ref.short}, held back", ref.op)


def trainable(graph: Graph, program: ProgramInfo) -> Trainable:
    """What can be followed of the layers of a document."""
    computed = {output for step in program.steps for output in step.outputs}
    gradients = [TensorRef.parse(name) for name in program.gradients]
    return Trainable(graph, gradients, computed, [TensorRef.parse(name) for name in program.rates])


def _said(error: ErrorInfo | None) -> str:
    """What is wrong, and what to do."""
    return "" if error is None else words(error)


def _draws_under(graph: Graph, names: Container[str]) -> bool:
    """Whether an operation of one of these names, or in a loop that is called so, draws random
    numbers by its own."""
    random = (graph.by_type[type] for type in graph.by_type if is_random(type))
    drawing = (name for each in random for name in each if draws_by_name(graph[name]))
    return any(path in names for name in drawing for path in (name, *parents(name)))
