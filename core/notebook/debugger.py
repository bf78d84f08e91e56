"""The debugger in Python: moves by the Debug Adapter Protocol's words, values by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.breakpoint_targets import require_targets
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import FIRST, Sessions
from gradstep.core.debug.history.frozen_program import NamedEdit, Program
from gradstep.core.debug.history.program_tensors import find_gradients, find_tensor
from gradstep.core.debug.motion.legal_moves import require_near
from gradstep.core.debug.motion.move_table import Moves
from gradstep.core.errors import GradstepError, error_text
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.suggestions import instead
from gradstep.core.host.branch_answers import inject, manage
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.edit_trials import run_by, source_of, try_remedy
from gradstep.core.host.moment_answers import compare_moments
from gradstep.core.host.moment_text import read_moment
from gradstep.core.host.offered_edits import choose_edit, edits_of, explain_here
from gradstep.core.host.process.interrupt import on_interrupt
from gradstep.core.host.program_reports import report_stop
from gradstep.core.host.stop_sentence import stop_text
from gradstep.core.notebook.argument_kinds import public
from gradstep.core.notebook.branch_place import Branch
from gradstep.core.notebook.explained import Explanation
from gradstep.core.notebook.gradient_arguments import as_names
from gradstep.core.notebook.lasting_values import in_place_of
from gradstep.core.notebook.moment_difference import Comparison
from gradstep.core.notebook.tried_fix import Trial
from gradstep.core.program.questions.edit_words import EXAMPLES, read_edit
from gradstep.core.program.runnable_part import find_unfed
from gradstep.core.protocol.branch_queries import SEED
from gradstep.core.protocol.messages import CompareMoments, ManageBranches, RemedyInfo, TryEdit


@dataclass(frozen=True, repr=False)
class Stop:
    """Where a debugger stands; its repr is for reading.

    reason: "entry", "step", "breakpoint", "exception" (the next step failed), "blocked" (it has to
            wait), "pause", "goto" or "end" (of a run).
    run, step: steps done of the run with that number, both from 0.
    phase, node, op: of the next step: "forward", "backward" or "update", the forward operation that
            it belongs to, the operation that it executes; "" at the end of a run.
    text:   what the next step does.
    error:  what failed, or what it waits for, as the rest of a run for a feed; else None.
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
        self, threads: Scheduler, breakpoints: Sequence[Breakpoint], devices: DeviceServices
    ) -> None:
        self._threads, self._devices = threads, devices
        self._sessions = Sessions({FIRST: threads})
        self._asked: tuple[str, str] | None = None  # of and wrt of the last `why`
        self._offered: tuple[NamedEdit, ...] = ()  # the edits that its answer named
        self._set(breakpoints)

    @property
    def stop(self) -> Stop:
        """Where it stands."""
        said, stop = report_stop(self._threads), self._threads.stop
        shown, error = stop_text(self._threads, said), stop.error
        if error is None and said.reason == "end":
            error = find_unfed(self._threads.session.program)
            shown += f"\n  waits: {error_text(error)}" if error is not None else ""
        return Stop(
            reason=said.reason,
            run=stop.run,
            step=stop.step,
            phase=said.phase,
            node=stop.node,
            op=stop.op,
            text=said.text,
            error=error,
            hit=stop.hit,
            legal=stop.legal,
            _shown=shown,
        )

    # -- moves ---------------------------------------------------------------------------------

    @public
    def command(self, name: str, target: str = "") -> Stop:
        """The move of that name, one of `stop.legal`; `target` is for those that need one."""
        require_near(target, self._threads.stop.runs)
        with on_interrupt(self._threads.pause):
            self._threads.command(name, target)
        return self.stop

    @public
    def choose_iteration(self, loop: str, number: int | None = None) -> Stop:
        """Look at iteration `number` of a loop, counted from 1, until a move goes into that loop:
        values and gradients are those of that iteration. None: where it stands, or the last."""
        if number is not None and number < 1:
            raise GradstepError(
                f"there is no iteration {number}", kind="ValueError", hint="count from 1"
            )
        self._threads.session.choose_iteration(loop, None if number is None else number - 1)
        return self.stop

    # -- branches ------------------------------------------------------------------------------

    @public
    def inject(self, name: str, value: Any, at: str = "", branch: str = "") -> Stop:
        """Give a tensor, a variable or a feed another value here, or a part of it (`at="[0, :]"`):
        a branch leaves, and is shown. A number alone is that for every element; it becomes of the
        dtype that is there. branch: what it is called, "" for the next that is free."""
        held = self._threads.session.frame().value(self._find(name))
        array = in_place_of(held, value)
        if held is not None and not at and array.ndim == 0:
            array = np.full(held.shape, array)
        with on_interrupt(self._threads.pause):
            inject(self._threads, name, array, at, branch)
        return self.stop

    @public
    def reseed(self, seed: int, branch: str = "") -> Stop:
        """Draw other random numbers from here on, on a branch: those of this seed."""
        with on_interrupt(self._threads.pause):
            inject(self._threads, SEED, in_place_of(None, seed), branch=branch)
        return self.stop

    @public
    def fork(self, edit: str, branch: str = "") -> Stop:
        """Run an edited program from the beginning of this run on, on a branch; the document stays
        as it is. edit: "stop a<0" (a wire), "stop a", "unstop a", "override a Identity",
        "native a", "set r.alpha = 0.1" or "set learning_rate = 0.01"."""
        session = self._threads.session
        found = read_edit(run_by(source_of(session).document, session), edit)
        if found is None:
            raise GradstepError(
                f"'{edit}' is no edit", kind="ValueError", hint=f"such as {EXAMPLES}"
            )
        return self._edit(*found, branch)

    @property
    def branch(self) -> str:
        """The name of the branch that is shown."""
        return self._threads.branches.current

    @property
    def branches(self) -> list[str]:
        """Their names, in the order in which they were made."""
        return [branch.name for branch in self._threads.branches.all]

    @public
    def about_branch(self, name: str = "") -> Branch:
        """Where a branch leaves which, with what, and where it stands; "" for the one shown."""
        branches = self._threads.branches
        known = {branch.name: branch for branch in branches.all}
        return Branch.of(known.get(name or branches.current) or branches[name])

    @public
    def switch_branch(self, name: str) -> Stop:
        """Show another branch, where it was left."""
        return self._manage(ManageBranches(command="switch", name=name))

    @public
    def rename_branch(self, name: str, to: str) -> Stop:
        """Call a branch something else."""
        return self._manage(ManageBranches(command="rename", name=name, to=to))

    @public
    def drop_branch(self, name: str) -> Stop:
        """Forget a branch; the one that it leaves is shown, if it was."""
        return self._manage(ManageBranches(command="drop", name=name))

    @public
    def compare(self, left: str, right: str = "") -> Comparison:
        """Which values are others at `right` than at `left`: a branch ("main"), a run and step
        ("0:5"), or both ("b1@0:5"); "" is here. Of branches without a place, at the farthest step
        that both have come to."""
        moments = [read_moment(self._sessions, text) for text in (left, right)]
        request = CompareMoments(left=moments[0], right=moments[1])
        return Comparison.of(compare_moments(self._sessions, request, self._devices))

    def _edit(self, kind: str, names: Sequence[str], branch: str) -> Stop:
        asked = ManageBranches(command="edit", name=branch, kind=kind, edited=[*names])
        return self._manage(asked)

    def _manage(self, request: ManageBranches) -> Stop:
        with on_interrupt(self._threads.pause):
            manage(self._threads, request)
        return self.stop

    # -- fixes ---------------------------------------------------------------------------------

    @public
    def try_fix(self, number: int = 1) -> Trial:
        """What fix `number` of the last `why`, counted from 1, does: the run in which this stands
        is made with it and without, beside all that there is."""
        session, (remedy, of, wrt) = self._threads.session, self._fix(number)
        request = TryEdit(kind=remedy.kind, names=remedy.names, of=of, wrt=[wrt] if wrt else [])
        with on_interrupt(self._threads.pause):
            return Trial.of(try_remedy(session, source_of(session).document, request))

    @public
    def take_fix(self, number: int = 1, branch: str = "") -> Stop:
        """Fix `number` of the last `why`, counted from 1, from this run on, on a branch."""
        remedy, _, _ = self._fix(number)
        return self._edit(remedy.kind, remedy.names, branch)

    def _fix(self, number: int) -> tuple[RemedyInfo, str, str]:
        if self._asked is None:
            raise GradstepError(
                "no question has named a fix yet",
                kind="FailedPreconditionError",
                hint='ask first: why("loss", "w")',
            )
        of, wrt = self._asked
        found = explain_here(self._threads.session, of, wrt)
        asked = f"d {of} / d {wrt}" if wrt else of
        return choose_edit(found, self._offered, number, asked), of, wrt

    # -- breakpoints ---------------------------------------------------------------------------

    @property
    def breakpoints(self) -> list[str]:
        """Where it stops, in words."""
        return [
            f"{b.kind.value} {b.target}{f' if {b.condition}' if b.condition else ''}"
            for b in self._breakpoints
        ]

    @public
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

    @public
    def value(self, name: str) -> np.ndarray | None:
        """A copy of the tensor's value as of where it stands; None where it is not computed yet, or
        is in a branch that was not taken."""
        return self._threads.session.view().value(self._find(name))

    def __getitem__(self, name: str) -> np.ndarray | None:
        return self.value(name)

    @public
    def gradient(self, wrt: str, *, of: str = "") -> np.ndarray | None:
        """The value of the gradient with respect to the tensor `wrt` (of `of`, where several things
        are differentiated); None where there is none, or not yet."""
        ref = self._find(wrt)
        held = [*find_gradients(self._program, ref, of).values()]
        return self._threads.session.view().value(held[0]) if held else None

    @public
    def why(self, of: str, wrt: str | None = None) -> Explanation:
        """Why the gradient of `of` with respect to `wrt`, or the value of `of`, is as it is in this
        run, as of where it stands; with the edits that may mend it, for `try_fix` and
        `take_fix`."""
        of, *rest = (self._find(name).short for name in (of, *as_names(wrt)))
        asked = of, next(iter(rest), "")
        found = explain_here(self._threads.session, *asked)
        self._asked, self._offered = asked, edits_of(found)
        return Explanation.of(found)

    def _find(self, name: str) -> TensorRef:
        (known,) = as_names(name)
        return find_tensor(self._program, known)

    @property
    def _program(self) -> Program:
        return self._threads.session.program

    def __repr__(self) -> str:
        return f"<gradstep.Debugger {self.stop!r}>"
