"""What is known of a run that is asked about: its tensors' values, and what made them so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.why.explanation_words import Index
from gradstep.core.checks.why.nonfinite_value import Origin, origins
from gradstep.core.checks.why.recorded_values import Given, LoopRan, Ran, Recorded, RecordedValue
from gradstep.core.checks.why.step_on_other_inputs import Again
from gradstep.core.checks.why.zero_value import find_telling_element, zero_origins
from gradstep.core.debug.history.chosen_iterations import ChosenIterations
from gradstep.core.debug.history.loop_iterations import NONE_CHOSEN
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.why_dead import why_dead
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of


def state_of(array: np.ndarray) -> Literal["nan", "inf", "zero", "ok"]:
    """ "nan" or "inf" where any element is, "zero" where all are, else "ok"."""
    if kind_of(array.dtype) in "fc" and not np.isfinite(array).all():
        return "nan" if np.isnan(array).any() else "inf"
    is_zero = kind_of(array.dtype) in "biufc" and array.size and not array.any()
    return "zero" if is_zero else "ok"


def _held_in(ran: Ran, ref: TensorRef) -> RecordedValue | None:
    """The value that a tensor is there; None where it was not computed, or is dead."""
    index = ran.value_of(ref)
    if index is None:
        return None
    made = ran.plan.made_by[index]
    there = made < 0 or ran.has_run(made)
    return RecordedValue(ran, index) if there and not ran.is_dead(ref) else None


class Recollection:
    """Run `number` of a session as of `step` (of what has been executed, by default all), and those
    before it.

    aside: the session is nobody's, and runs only for this question; past: then, where its variables
    come from, if they come from somewhere. number: of the run; names: what tensors of the way back
    are called, by what they are the gradient of. looked_at: of loops the iterations that are asked
    about.
    """

    def __init__(
        self,
        session: DebugSession,
        number: int,
        step: int | None = None,
        aside: bool = False,
        past: Recollection | None = None,
        looked_at: ChosenIterations = NONE_CHOSEN,
    ) -> None:
        self.again = Again(session)
        self.number = number
        recorded = Recorded(session)
        self.run = recorded.run(number) if step is None else recorded.up_to(number, step)
        self.past = past
        self.names: dict[TensorRef, str] = {}
        self._home = None if aside else session
        self._looked_at = looked_at

    def stands(self, ran: Ran) -> Recollection | None:
        """Itself, or its past: whichever has `ran` among the runs of a session that one can go to;
        else None."""
        if self._home is ran.session:
            return self
        return None if self.past is None else self.past.stands(ran)

    def place(self, ref: TensorRef) -> RecordedValue | None:
        """The value that a tensor is; of a tensor in a loop in the iteration that is looked at.
        None where it has not been computed, or is dead."""
        ran = self.around(ref)
        return None if ran is None else _held_in(ran, ref)

    def array(self, ref: TensorRef) -> np.ndarray | None:
        """The value of a tensor; None where it has none."""
        check_cancelled()  # it is asked for of each wire of a long way
        place = self.place(ref)
        return None if place is None else self.read(place)

    def origins(self, ref: TensorRef, at: Index | None = None) -> list[Origin]:
        """What made `ref`, which has been computed, or its element `at`, NaN or infinite."""
        place = self.place(ref)
        assert place is not None
        return self._earlier(origins(self.again, place, at))

    def zero_origins(self, ref: TensorRef) -> list[Origin]:
        """What made an element of `ref`, which has been computed, zero."""
        place = self.place(ref)
        assert place is not None
        return zero_origins(self.again, place, find_telling_element(self.again, place))

    def dead(self, ref: TensorRef) -> str:
        """Why a tensor is dead; "" where it is not."""
        ran = self.around(ref)
        if ran is None or ref not in ran.plan.alive or ran.plan.step_of[ref.op] >= ran.done:
            return ""
        found = why_dead(ran.plan, ref, ran.held)
        return "" if found is None else found.reason

    def around(self, ref: TensorRef) -> Ran | None:
        """The run, or the iteration of a loop that is looked at, which a tensor is one of. None
        where the loop has not run."""
        if self.run.value_of(ref) is not None:
            return self.run
        around = way_to(self.run.plan.graph, ref.op)
        return self._inside(self.run, [op.name for op in around or ()], ref)

    def _inside(self, ran: Ran, loops: Sequence[str], ref: TensorRef) -> Ran | None:
        """The iteration that is looked at of the last of these loops, each in the one before: where
        none was chosen the first in which `ref` is not finite, or else the one that is shown."""
        step = ran.plan.step_of.get(loops[0]) if loops else None
        if step is None or not ran.has_run(step):
            return None
        loop = LoopRan(ran, step)
        if self._looked_at.number(loop.step.op, loop.count) is None:
            for number in range(loop.count):
                check_cancelled()
                found = self._further(loop.iteration(number), loops[1:], ref)
                place = None if found is None else _held_in(found, ref)
                array = None if place is None else self.read(place)
                if array is not None and state_of(array) in ("nan", "inf"):
                    return found
        shown = self._looked_at.shown(loop.step.op, loop.count)
        return self._further(loop.iteration(shown), loops[1:], ref)

    def _further(self, iteration: Ran, loops: Sequence[str], ref: TensorRef) -> Ran | None:
        """Itself, if it has the tensor; else what is looked at of the loops in it."""
        if iteration.value_of(ref) is not None:
            return iteration
        return self._inside(iteration, loops, ref)

    def read(self, place: RecordedValue) -> np.ndarray | None:
        """The value there; None for one that is no array."""
        found = self.again.array(place.ran.held(place.index))
        return found if isinstance(found, np.ndarray) else None

    def _earlier(self, found: list[Origin]) -> list[Origin]:
        """What made them, where the variables that it came from were written in runs of the other
        session."""
        made = found[0].made if found else None
        if self.past is None or not isinstance(made, Given) or made.kind != "initial":
            return found
        name = made.ran.plan.values[made.index].variable
        versions = self.past.run.plan.versions.get(name)
        if versions is None:
            return found
        before = origins(self.past.again, RecordedValue(self.past.run, versions[0]))
        return [*before, *found[1:]] or found
