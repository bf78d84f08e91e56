"""Which of the gradients that the document asks for are None, NaN, infinite or zero."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gradstep.core.document.requests import whole_request
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import ProgramInfo
from gradstep.gui.model.explanations import state_of

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

_ORDER = ("none", "nan", "inf", "zero")

Row = tuple[TensorRef, str]  # what the gradient is with respect to, and its state


class _Asked:
    """The gradients that a request asks for, as a program has them."""

    def __init__(self, wrt: Sequence[TensorRef], program: ProgramInfo) -> None:
        self._key = wrt, program
        self._refs = [(ref, str(ref)) for ref in wrt]
        self._program = program

    def is_of(self, wrt: Sequence[TensorRef], program: ProgramInfo) -> bool:
        return self._key[0] is wrt and self._key[1] is program

    @cached_property
    def missing(self) -> list[Row]:
        """Those that are None."""
        there = self._program.gradients.keys() | self._program.waiting.keys()
        return [(ref, "none") for ref, name in self._refs if name not in there]

    @cached_property
    def held(self) -> tuple[list[TensorRef], list[str]]:
        """What the others are with respect to, and the tensors that hold them."""
        holders = self._program.gradients
        found = [(ref, holders[name]) for ref, name in self._refs if name in holders]
        return [ref for ref, _ in found], [holder for _, holder in found]


class GradientStates:
    """As of the current stop; found once for each thing that could change it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._asked: _Asked | None = None
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
        program = space.program
        if program is None or space.gradients_wait:
            return []
        wrt = whole_request(space.document).wrt
        if self._asked is None or not self._asked.is_of(wrt, program):
            self._asked = _Asked(wrt, program)
        refs, holders = self._asked.held
        states = map(state_of, space.debugger.values(holders))
        found = [row for row in zip(refs, states, strict=True) if row[1]]
        return self._asked.missing + sorted(found, key=lambda row: _ORDER.index(row[1]))

    def _forget(self) -> None:
        self._bad = None
