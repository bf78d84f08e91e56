"""Which of the gradients that the document asks for are None, NaN, infinite or zero."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from gradstep.core.document.requests import whole_request
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import Stopped
from gradstep.gui.model.explanations import state_of
from gradstep.gui.model.program_index import ProgramIndex

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

_ORDER = ("none", "nan", "inf", "zero")

Row = tuple[TensorRef, str]  # what the gradient is with respect to, and its state


class _Held:
    """The gradients that a request asks for and a program has, in the order in which it makes
    them."""

    def __init__(self, wrt: Sequence[TensorRef], index: ProgramIndex) -> None:
        self._wrt, self._index = wrt, index
        program = index.program
        assert program is not None  # asked before
        names = [(ref, str(ref)) for ref in wrt]
        there = program.gradients.keys() | program.waiting.keys()
        self.missing: list[Row] = [(ref, "none") for ref, name in names if name not in there]
        held = [(ref, program.gradients[name]) for ref, name in names if name in program.gradients]
        self.order = {ref: place for place, (ref, _) in enumerate(held)}
        number = index.numbers.get
        made = [(number(holder.rpartition(":")[0], -1), ref, holder) for ref, holder in held]
        made.sort(key=itemgetter(0))
        self.made, self.numbers = made, [n for n, _, _ in made]

    def is_of(self, wrt: Sequence[TensorRef], index: ProgramIndex) -> bool:
        return self._index is index and self._wrt == wrt


class GradientStates:
    """As of the current stop. Each gradient is read once in a run: it stays as it was made."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._held: _Held | None = None
        self._place: tuple[object, ...] = ()  # the run of which `_states` are
        self._states: list[str] = []  # of the first that were made; "" for any other number
        self._unknown: set[int] = set()  # those of them that are not known yet
        self._bad: list[Row] | None = None
        for signal in (
            workspace.document_changed,
            workspace.program_changed,
            workspace.stopped,
            workspace.values_changed,
        ):
            signal.connect(self._forget)

    @property
    def bad(self) -> list[Row]:
        """Those that are None, NaN, infinite or zero; None first."""
        if self._bad is None:
            self._bad = self._find()
        return self._bad

    def _find(self) -> list[Row]:
        space = self._workspace
        if space.program is None or space.gradients_wait:
            return []
        held = self._follow_program()
        if space.stop is not None:
            self._follow_stop(held, space.stop)
        refs = (ref for _, ref, _ in held.made)
        found = [row for row in zip(refs, self._states, strict=False) if row[1]]
        found.sort(key=lambda row: (_ORDER.index(row[1]), held.order[row[0]]))
        return held.missing + found

    def _follow_program(self) -> _Held:
        wrt = whole_request(self._workspace.document).wrt
        index = self._workspace.debugger.index
        if self._held is None or not self._held.is_of(wrt, index):
            self._held, self._place = _Held(wrt, index), ()
            self._states, self._unknown = [], set()
        return self._held

    def _follow_stop(self, held: _Held, stop: Stopped) -> None:
        """Read those that were made since; forget those that are still to be made."""
        debugger = self._workspace.debugger
        place = held, stop.run, self._workspace.sessions.current
        if place != self._place:
            self._place, self._states, self._unknown = place, [], set()
        count = bisect_left(held.numbers, stop.step)
        self._unknown.update(range(len(self._states), count))
        self._unknown.difference_update(range(count, len(self._states)))
        self._states[count:] = [""] * (count - len(self._states))
        unknown = [*self._unknown]
        values = debugger.values([held.made[i][2] for i in unknown])
        for i, value in zip(unknown, values, strict=True):
            if value is not None and debugger.knows_this_stop:
                self._states[i] = state_of(value)
                self._unknown.discard(i)

    def _forget(self) -> None:
        self._bad = None
