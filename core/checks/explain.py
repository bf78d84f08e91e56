"""Why a value, or a gradient, is as it is, from the recorded runs of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from core.autodiff.differentiate import Differentiation
from core.autodiff.explain import Explanation, Link
from core.autodiff.unrolled import around_loops, unrolled
from core.autodiff.untaken import reason, untaken
from core.autodiff.walking import flow_path
from core.checks import telling
from core.checks.again import Again
from core.checks.flow import Stopper, ZeroFlow
from core.checks.growth import growth
from core.checks.nonfinite import Origin, origins
from core.checks.recorded import Given, LoopRan, Ran, Recorded, Value
from core.checks.words import Index, broadcast_index
from core.checks.zeros import zero_origins
from core.debug.session import DebugSession
from core.engine.groups import owner
from core.engine.untaken import why_dead
from core.graph.loop import way_to
from core.graph.model import Graph, Phase, TensorRef

_WORDS = {"nan": "NaN", "inf": "infinite", "zero": "zero"}


class Recollection:
    """Run `number` of a session as of `step` (of what has been executed, by default all), and those
    before it.

    aside: the session is nobody's, and runs only for this question; past: then, where its variables
    come from, if they come from somewhere.
    """

    def __init__(
        self,
        session: DebugSession,
        number: int,
        step: int | None = None,
        aside: bool = False,
        past: Recollection | None = None,
    ) -> None:
        self.again = Again(session)
        self.number = number
        recorded = Recorded(session)
        self.run = recorded.run(number) if step is None else recorded.up_to(number, step)
        self.past = past
        self.names: dict[TensorRef, str] = {}
        self._home = None if aside else session

    def stands(self, ran: Ran) -> Recollection | None:
        """Itself, or its past: whichever has `ran` among the runs of a session that one can go to;
        else None."""
        if self._home is ran.session:
            return self
        return None if self.past is None else self.past.stands(ran)

    def place(self, ref: TensorRef) -> Value | None:
        """The value that a tensor is; of a tensor in a loop in the first iteration in which it is
        not finite, or else the last. None where it has not been computed."""
        index = self.run.value_of(ref)
        if index is not None:
            made = self.run.plan.made_by[index]
            there = made < 0 or self.run.has_run(made)
            return Value(self.run, index) if there and not self.dead(ref) else None
        around = way_to(self.run.plan.graph, ref.op)
        return self._inside(self.run, [op.name for op in around or ()], ref)

    def array(self, ref: TensorRef) -> np.ndarray | None:
        """The value of a tensor; None where it has none."""
        place = self.place(ref)
        return None if place is None else self._array(place)

    def origins(self, ref: TensorRef, at: Index | None = None) -> list[Origin]:
        """What made `ref`, which has been computed, or its element `at`, NaN or infinite."""
        place = self.place(ref)
        assert place is not None
        return self._earlier(origins(self.again, place, at))

    def zero_origins(self, ref: TensorRef) -> list[Origin]:
        """What made the first element of `ref`, which has been computed, zero."""
        place = self.place(ref)
        assert place is not None
        array = self._array(place)
        assert array is not None
        return zero_origins(self.again, place, (0,) * array.ndim)

    def dead(self, ref: TensorRef) -> str:
        """Why a tensor is dead; "" where it is not."""
        plan = self.run.plan
        if ref not in plan.alive or plan.step_of[ref.op] >= self.run.done:
            return ""
        found = why_dead(plan, ref, self.run.held)
        return "" if found is None else found.reason

    def _inside(self, ran: Ran, loops: Sequence[str], ref: TensorRef) -> Value | None:
        """`place` in the first of these loops, and the others in it."""
        step = ran.plan.step_of.get(loops[0]) if loops else None
        if step is None or not ran.has_run(step):
            return None
        loop, found = LoopRan(ran, step), None
        for number in range(loop.count):
            iteration = loop.iteration(number)
            index = iteration.value_of(ref)
            if index is None:
                found = self._inside(iteration, loops[1:], ref)
            else:
                found = Value(iteration, index)
            array = None if found is None else self._array(found)
            if array is not None and state_of(array) in ("nan", "inf"):
                break
        return found

    def _array(self, place: Value) -> np.ndarray | None:
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
        before = origins(self.past.again, Value(self.past.run, versions[0]))
        return [*before, *found[1:]] or found


# -- values ------------------------------------------------------------------------------------


def explain_value(there: Recollection, ref: TensorRef) -> Explanation:
    """Why a tensor is NaN, infinite or zero; or that it is not."""
    array = there.array(ref)
    if array is None:
        dead = there.dead(ref)
        text = f"{ref.short} has no value: {dead or 'it has not been computed in this run'}."
        return Explanation("none", "untaken" if dead else "waiting", ref.op, None, (), text)
    state = state_of(array)
    what = f"{ref.short} is {_WORDS.get(state, '')}"
    if state == "ok":
        return Explanation("ok", "", None, None, (), f"{ref.short} {telling.described(array)}.")
    if state == "zero":
        return _told(there, state, what, _first_zero(there.zero_origins(ref)), [ref.op])
    return _told(there, state, what, there.origins(ref), [ref.op])


def state_of(array: np.ndarray) -> str:
    """ "nan" or "inf" where any element is, "zero" where all are, else "ok"."""
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        return "nan" if np.isnan(array).any() else "inf"
    is_zero = array.dtype.kind in "biufc" and array.size and not array.any()
    return "zero" if is_zero else "ok"


def _first_zero(found: Sequence[Origin]) -> Sequence[Origin]:
    """From where on all was zero: the first that undid something, and what made it do so."""
    undoing = [i for i, origin in enumerate(found) if origin.operand is not None]
    return found[undoing[-1] if undoing else -1 :]


def _told(
    there: Recollection,
    state: str,
    what: str,
    found: Sequence[Origin],
    path: Sequence[str],
) -> Explanation:
    """What was found as an explanation. path: of operations, up to the first that was found."""
    links = tuple(telling.link(x, there, first=i == 0) for i, x in enumerate(found))
    first = links[0]
    way = reversed([owner(op) for _, op in found[0].way])
    carried = telling.carried(found[0])
    told = "; ".join(filter(None, [first.text, carried, *(link.text for link in links[1:])]))
    return Explanation(
        state,
        first.cause,
        first.node,
        first.index,
        _once(path if len(path) > 1 else [*path, *way, first.node]),
        f"{what}: {told}.{telling.fix(found[0])}",
        links,
    )


# -- gradients -----------------------------------------------------------------------------------


class GradientQuestion:
    """d(of)/d(wrt), which exists. graph: the forward graph; derived: its differentiation, which has
    been run."""

    def __init__(
        self,
        there: Recollection,
        graph: Graph,
        derived: Differentiation,
        of: TensorRef,
        wrt: TensorRef,
    ) -> None:
        self._there, self._graph, self._of, self._wrt = there, graph, of, wrt
        self._whole, self._derived = derived, around_loops(graph, derived)
        self._name = f"d {of.short} / d {wrt.short}"

    def explanation(self) -> Explanation:
        """Why it is NaN, infinite or zero; or that it is not."""
        gradient = self._derived.gradients[self._wrt]
        array = self._there.array(gradient)
        if array is None:
            return self._without_value(gradient)
        state = state_of(array)
        what = f"{self._name} is {_WORDS.get(state, '')}"
        if state == "ok":
            return self._ok(array)
        if state == "zero":
            return self._zero(what)
        there = self._there
        there.names = self._names()
        found = self._from_the_way_there(there.origins(gradient))
        node = telling.link(found[0], self._there).node
        return _told(there, state, what, found, [*self._path(node), node])

    def _from_the_way_there(self, found: list[Origin]) -> list[Origin]:
        """With the forward operation first that is not finite itself where its gradient is not."""
        first = found[0]
        op = first.op
        if op is None or op.phase is not Phase.BACKWARD or op.origin not in self._graph:
            return found
        ref, index = TensorRef(op.origin), first.index
        array = self._there.array(ref)
        if array is None or broadcast_index(array.shape, index) != index:
            return found
        before = self._there.origins(ref, index)
        if not before or before[0].op is None or before[0].op.name != op.origin:
            return found
        return [before[0], *found[1:]] if first.kind == before[0].kind else found

    def _without_value(self, gradient: TensorRef) -> Explanation:
        why = reason(self._derived.graph, gradient.op, self._there.array)
        if why:
            text = f"{self._name} has no value: it is in a branch that was not taken because {why}."
            return Explanation("none", "untaken", self._wrt.op, None, (), text)
        text = f"{self._name}: it exists; run the graph to see its value."
        return Explanation("ok", "", None, None, self._path(self._wrt.op), text)

    def _ok(self, array: np.ndarray) -> Explanation:
        size = f"it is finite and not zero (norm {telling.norm(array)})"
        found = growth(self._graph, self._derived, self._wrt, self._there.array)
        cause = "" if found is None else found.cause
        more = f"; {found.text}" if found is not None and cause else ""
        node = found.by[0][0] if found is not None and cause else None
        path = self._path(self._wrt.op)
        return Explanation("ok", cause, node, None, path, f"{self._name}: {size}{more}.")

    def _zero(self, what: str) -> Explanation:
        there, of, wrt = self._there, self._of, self._wrt
        missed = untaken(self._graph, self._derived, of, wrt, there.array)
        if missed is not None:
            text = f"{what}: {missed.node} is in a branch that was not taken because {missed.why}."
            return Explanation("zero", "untaken", missed.node, None, missed.path, text)
        flow = ZeroFlow(there.again, there.run, self._graph, self._whole)
        found = sorted(flow.stoppers(wrt), key=_vagueness)
        if not found:
            return Explanation("zero", "", wrt.op, None, self._path(wrt.op), f"{what}.")
        first = found[0]
        links = (telling.stopped(first, self._operands(first), there), *self._behind(first))
        others = telling.others(len(found) - 1)
        text = f"{what}: {'; '.join(link.text for link in links)}.{others}"
        path = _once([*self._path(first.op.name), first.op.name])
        advice = telling.stopped_fix(first)
        return Explanation(
            "zero", first.cause, first.op.name, first.index, path, f"{text}{advice}", links
        )

    def _operands(self, stopper: Stopper) -> list[np.ndarray | None]:
        """What the forward operation read; in a loop that is not looked up."""
        if stopper.level.loop is not None:
            return []
        return [None if ref is None else self._there.array(ref) for ref in stopper.op.inputs]

    def _behind(self, stopper: Stopper) -> list[Link]:
        """Why the operand that is to blame is zero."""
        leaf, index = stopper.leaf, stopper.leaf_index
        if stopper.cause not in ("zero_factor", "not_chosen") or leaf is None or index is None:
            return []
        if leaf.array[index]:
            return []
        value = Value(stopper.level.ran, leaf.index)
        found = _first_zero(zero_origins(self._there.again, value, index))
        return [telling.link(origin, self._there, first=False) for origin in found]

    def _names(self) -> dict[TensorRef, str]:
        """What tensors of the way back are called."""
        parts = {ref: f"the part by {edge.op}" for edge, ref in self._derived.edges.items()}
        whole = {g: f"d {self._of.short} / d {x.short}" for x, g in self._derived.gradients.items()}
        return {**parts, **whole}

    @cached_property
    def _opened(self) -> tuple[Graph, Differentiation]:
        return unrolled(self._graph, self._whole)

    def _path(self, name: str) -> tuple[str, ...]:
        return flow_path(*self._opened, self._of, TensorRef(name), self._there.array)


def _vagueness(stopper: Stopper) -> int:
    """How little a stopper says: what names an operand comes first."""
    vague = stopper.cause in ("flat", "starts_at_zero")
    return 2 if vague else 0 if stopper.leaf is not None or stopper.parts else 1


def _once(path: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path))
