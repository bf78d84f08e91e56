"""The debugger in Python: moves by the Debug Adapter Protocol's words, values by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.breaks.breakpoint_targets import require_targets
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.program_tensors import find_gradients, find_tensor
from gradstep.core.debug.motion.legal_commands import require_near
from gradstep.core.debug.motion.move_table import Moves
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.suggestions import instead
from gradstep.core.host.branch_answers import inject
from gradstep.core.host.process.interrupt import on_interrupt
from gradstep.core.host.program_reports import report_stop
from gradstep.core.host.stop_sentence import stop_text
from gradstep.core.notebook.error_notes import add_notes
from gradstep.core.notebook.explained import Explanation
from gradstep.core.notebook.gradient_arguments import as_names
from gradstep.core.program.gradient_context import situation_about


@dataclass(frozen=True, repr=False)
class Stop:
    """Where a debugger stands; its repr is for reading.

    reason: "entry", "step", "breakpoint", "exception" (the next step failed), "blocked" (it has to
            wait), "pause", "goto" or "end" (of a run).
    run, step: steps done of the run with that number, both from 0.
    phase, node, op: of the next step: "forward", "backward" or "update", the forward operation that
            it belongs to, the operation that it executes; "" at the end of a run.
    text:   what the next step does.
    error:  what failed, or what it waits for; else None.
    hit:    the operation that met a breakpoint, "" where none did.
    legal:  the moves that are possible now, by the names of the methods.
    """

    reason: str
    run: int
    step: int
    phase: str
    node: str
    op: str
    text: str
    error: GradstepError | None
    hit: str
    legal: tuple[str, ...]
    _shown: str

    def __repr__(self) -> str:
        return self._shown


class Debugger(Moves[Stop]):
    """A debugger of one document, as `Session.debug` gives it.

    Every move returns the Stop that it came to, as `stop` does; a step that fails is a stop with
    its error, and can be looked at and gone back from. Ctrl+C, or the notebook's interrupt, pauses
    a long one. `debugger["name"]` is a value as of where it stands. Everything raises GradstepError
    for a name that is not there, and for a move that is not possible.
    """

    def __init__(
        self,
        threads: Scheduler,
        gradients: Mapping[str, GradientFunction],
        breakpoints: Sequence[Breakpoint],
    ) -> None:
        self._threads, self._gradients = threads, gradients
        self._set(breakpoints)

    @property
    def stop(self) -> Stop:
        """Where it stands."""
        said, stop = report_stop(self._threads), self._threads.stop
        return Stop(
            reason=said.reason,
            run=stop.run,
            step=stop.step,
            phase=said.phase,
            node=stop.node,
            op=stop.op,
            text=said.text,
            error=stop.error,
            hit=stop.hit,
            legal=stop.legal,
            _shown=stop_text(self._threads, said),
        )

    # -- moves ---------------------------------------------------------------------------------

    @add_notes()
    def command(self, name: str, target: str = "") -> Stop:
        """The move of that name, one of `stop.legal`; `target` is for those that need one."""
        require_near(target, self._threads.stop.runs)
        with on_interrupt(self._threads.pause):
            self._threads.command(name, target)
        return self.stop

    # -- branches ------------------------------------------------------------------------------

    @add_notes()
    def inject(self, name: str, value: Any, at: str = "", branch: str = "") -> Stop:
        """Give a tensor, a variable or a feed another value here, or a part of it (`at="[0, :]"`):
        a branch leaves, and is shown. A number alone is that for every element; it becomes of the
        dtype that is there. branch: what it is called, "" for the next that is free."""
        held = self.value(name)
        array = np.asarray(value) if held is None else np.asarray(value, held.dtype)
        if held is not None and not at and array.ndim == 0:
            array = np.full(held.shape, array)
        inject(self._threads, name, array, at, branch)
        return self.stop

    @property
    def branches(self) -> list[str]:
        """Their names, in the order in which they were made."""
        return [branch.name for branch in self._threads.session.branches.all]

    @add_notes()
    def switch_branch(self, name: str) -> Stop:
        """Show another branch, where it was left."""
        with on_interrupt(self._threads.pause):
            self._threads.switch_branch(name)
        return self.stop

    # -- breakpoints ---------------------------------------------------------------------------

    @property
    def breakpoints(self) -> list[str]:
        """Where it stops, in words."""
        return [
            f"{b.kind.value} {b.target}{f' if {b.condition}' if b.condition else ''}"
            for b in self._breakpoints
        ]

    @add_notes()
    def break_at(self, target: str, kind: str = "op", condition: str = "") -> None:
        """Stop before operation `target`; or at a "gradient", "scope", "type", "phase" or "line"
        ("net.py:81") of that name; under a condition, where it holds: "isnan(value)"."""
        kinds = [each.value for each in BreakpointKind]
        if kind not in kinds:
            raise GradstepError(
                f"there is no kind of breakpoint '{kind}'",
                kind="ValueError",
                hint=instead(kind, kinds),
            )
        point = Breakpoint(target, BreakpointKind(kind), condition)
        require_targets(self._threads.program.graph, point)
        self._set([*self._breakpoints, point])

    def clear_breakpoints(self) -> None:
        """Stop nowhere."""
        self._set(())

    def _set(self, breakpoints: Sequence[Breakpoint]) -> None:
        self._threads.set_breakpoints(breakpoints)
        self._breakpoints = tuple(breakpoints)

    # -- looking -------------------------------------------------------------------------------

    @add_notes()
    def value(self, name: str) -> np.ndarray | None:
        """A copy of the tensor's value as of where it stands; None where it is not computed yet, or
        is in a branch that was not taken."""
        return self._threads.session.frame().value(self._find(name))

    def __getitem__(self, name: str) -> np.ndarray | None:
        return self.value(name)

    @add_notes()
    def gradient(self, name: str, of: str = "") -> np.ndarray | None:
        """The value of the gradient with respect to the tensor (of `of`, where several things are
        differentiated); None where there is none, or not yet."""
        ref = self._find(name)
        held = [*find_gradients(self._program, ref, of).values()]
        return self._threads.session.frame().value(held[0]) if held else None

    @add_notes()
    def why(self, of: str, wrt: str | None = None) -> Explanation:
        """Why the gradient of `of` with respect to `wrt`, or the value of `of`, is as it is in this
        run, as of where it stands."""
        session = self._threads.session
        for name in (of, *as_names(wrt)):
            self._find(name)
        here = situation_about(session, self._gradients, of)
        functions, stop = session.program.functions, session.stop
        explainer = Explainer(here, functions, session.backend, session, stop.run, stop.step)
        if wrt is None:
            return Explanation.of(explainer.value(of))
        return Explanation.of(explainer.gradient(of, wrt))

    def _find(self, name: str) -> TensorRef:
        (known,) = as_names(name)
        return find_tensor(self._program, known)

    @property
    def _program(self) -> Program:
        return self._threads.session.program

    def __repr__(self) -> str:
        return f"<gradstep.Debugger {self.stop!r}>"
