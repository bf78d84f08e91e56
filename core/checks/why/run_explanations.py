"""Why a value, or a gradient, is as it is, from the recorded runs of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from gradstep.core.autodiff.explain.dead_branch_gradients import find_untaken, say_why_untaken
from gradstep.core.autodiff.explain.gradient_paths import find_flow_path
from gradstep.core.autodiff.explain.loop_inlining import leave_out_loops, unroll_loops
from gradstep.core.autodiff.explain.why_answer import Link, WhyAnswer
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.checks.why import explanation_text
from gradstep.core.checks.why.explanation_words import broadcast_index, subject, where
from gradstep.core.checks.why.gradient_growth import growth
from gradstep.core.checks.why.nonfinite_value import Origin
from gradstep.core.checks.why.questioned_run import Recollection, state_of
from gradstep.core.checks.why.recorded_values import RecordedValue
from gradstep.core.checks.why.zero_gradient import Stopper, ZeroFlow
from gradstep.core.checks.why.zero_value import zero_origins
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.graph.model import Graph, Phase, TensorRef
from gradstep.core.protocol.vocabulary import ExplainedState

# Where what is zero has a reason of its own.
_FOLLOWED = ("zero_factor", "not_chosen", "stationary")
WORDS = {"nan": "NaN", "inf": "infinite", "zero": "zero"}
_EMPTY = "it is empty, as what it is asked for has no elements"


# -- values ------------------------------------------------------------------------------------


def explain_value(there: Recollection, ref: TensorRef) -> WhyAnswer:
    """Why a tensor is NaN, infinite or zero; or that it is not."""
    place = there.place(ref)
    array = None if place is None else there.read(place)
    if place is None or array is None:
        dead = there.dead(ref)
        text = f"{ref.short} has no value: {dead or 'it has not been computed in this run'}."
        return WhyAnswer("none", "untaken" if dead else "waiting", ref.op, text=text)
    state = state_of(array)
    name = subject(ref.short, place.ran.within)
    if state == "ok":
        text = f"{name} {explanation_text.describe_range(array)}."
        return WhyAnswer("ok", "", text=text)
    what = f"{name} is {WORDS[state]}"
    if state == "zero":
        return _told(there, state, what, _first_zero(there.zero_origins(ref)), [ref.op])
    return _told(there, state, what, there.origins(ref), [ref.op])


def _first_zero(found: Sequence[Origin]) -> Sequence[Origin]:
    """From where on all was zero: the first that undid something, and what made it do so."""
    undoing = [i for i, origin in enumerate(found) if origin.operand is not None]
    return found[undoing[-1] if undoing else -1 :]


def _told(
    there: Recollection,
    state: ExplainedState,
    what: str,
    found: Sequence[Origin],
    path: Sequence[str],
) -> WhyAnswer:
    """What was found as an explanation. path: of operations, up to the first that was found."""
    if not found:
        text = f"{what}, though nothing that leads there is."
        return WhyAnswer(state, "", text=text, path=_once(path))
    links = tuple(explanation_text.link(x, there, first=i == 0) for i, x in enumerate(found))
    first = links[0]
    way = reversed([owner(op) for _, op in found[0].way])
    carried = explanation_text.describe_carry(found[0])
    told = "; ".join(filter(None, [first.text, carried, *(link.text for link in links[1:])]))
    return WhyAnswer(
        state,
        first.cause,
        first.node,
        text=f"{what}: {told}.{explanation_text.fix(found[0])}",
        index=first.index,
        path=_once(path if len(path) > 1 else [*path, *way, first.node]),
        chain=links,
    )


# -- gradients -----------------------------------------------------------------------------------


class GradientQuestion:
    """d(of)/d(wrt), which exists. graph: the forward graph; derived: its differentiation, which has
    been run. Of a tensor in a loop it is the gradient in the iteration that `there` looks at."""

    def __init__(
        self,
        there: Recollection,
        graph: Graph,
        derived: Differentiation,
        of: TensorRef,
        wrt: TensorRef,
    ) -> None:
        self._there, self._graph, self._of, self._wrt = there, graph, of, wrt
        self._whole, self._derived = derived, leave_out_loops(graph, derived)
        self._flow = ZeroFlow(there.again, there.run, graph, derived)
        self._in_loop = wrt.op not in graph
        self._level = self._flow.level(there.around(derived.gradients[wrt]))
        self._name = f"d {of.short} / d {wrt.short}"

    def explanation(self) -> WhyAnswer:
        """Why it is NaN, infinite or zero; or that it is not."""
        gradient = self._derived.gradients[self._wrt]
        array = self._there.array(gradient)
        if array is None:
            return self._without_value(gradient)
        state = state_of(array)
        what = f"{subject(self._name, self._level.iteration)} is {WORDS.get(state, '')}"
        if state == "ok":
            return self._ok(array)
        if state == "zero":
            return self._zero(what)
        there = self._there
        there.names = self._names()
        origins = there.origins(gradient)
        if not origins:
            return _told(there, state, what, [], self._path(self._wrt.op))
        found = self._from_the_way_there(origins)
        node = explanation_text.link(found[0], self._there).node
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

    def _without_value(self, gradient: TensorRef) -> WhyAnswer:
        if self._in_loop:
            reason = self._there.dead(gradient)
        else:
            why = say_why_untaken(self._derived.graph, gradient.op, self._there.array)
            reason = f"it is in a branch that was not taken because {why}" if why else ""
        if reason:
            text = f"{subject(self._name, self._level.iteration)} has no value: {reason}."
            return WhyAnswer("none", "untaken", self._wrt.op, text=text)
        name = f"{self._name}{where(self._level.iteration)}"
        text = f"{name}: it exists; run the graph to see its value."
        return WhyAnswer("ok", "", text=text, path=self._path(self._wrt.op))

    def _ok(self, array: np.ndarray) -> WhyAnswer:
        if array.dtype.hasobject:  # what stands for no gradient of a tensor of texts
            size = "it holds texts, and no numbers"
        elif array.size:
            size = explanation_text.describe_size(array)
        else:
            size = _EMPTY
        found = None
        if not self._in_loop:  # its wires have a value in each iteration
            found = growth(self._graph, self._derived, self._wrt, self._there.array)
        cause = "" if found is None else found.cause
        more = f"; {found.text}" if found is not None and cause else ""
        node = found.by[0][0] if found is not None and cause else None
        path = self._path(self._wrt.op)
        text = f"{self._name}{where(self._level.iteration)}: {size}{more}."
        return WhyAnswer("ok", cause, node, text=text, path=path)

    def _zero(self, what: str) -> WhyAnswer:
        there, of, wrt = self._there, self._of, self._wrt
        missed = None
        if not self._in_loop:  # there the way back is told of, iteration by iteration
            missed = find_untaken(self._graph, self._derived, of, wrt, there.array)
        if missed is not None:
            text = f"{what}: {missed.node} is in a branch that was not taken because {missed.why}."
            return WhyAnswer("zero", "untaken", missed.node, text=text, path=missed.path)
        found = sorted(self._flow.stoppers(wrt, self._level), key=_vagueness)
        if not found:
            return WhyAnswer("zero", "", wrt.op, text=f"{what}.", path=self._path(wrt.op))
        first = found[0]
        links = (
            explanation_text.stopper_link(first, self._operands(first), there),
            *self._behind(first),
        )
        others = explanation_text.others(len(found) - 1)
        text = f"{what}: {'; '.join(link.text for link in links)}.{others}"
        path = _once([*self._path(first.op.name), first.op.name])
        rooted = first.cause == "stationary" and len(links) > 1
        advice = "" if rooted else explanation_text.stopper_fix(first, links)
        return WhyAnswer(
            "zero",
            first.cause,
            first.op.name,
            text=f"{text}{advice}",
            index=first.index,
            path=path,
            chain=links,
        )

    def _operands(self, stopper: Stopper) -> list[np.ndarray | None]:
        """What the forward operation read; in a loop that is not looked up."""
        if stopper.level.loop is not None:
            return []
        return [None if ref is None else self._there.array(ref) for ref in stopper.op.inputs]

    def _behind(self, stopper: Stopper) -> list[Link]:
        """Why the operand that is to blame is zero."""
        leaf, index = stopper.leaf, stopper.leaf_index
        if stopper.cause not in _FOLLOWED or leaf is None or index is None:
            return []
        if leaf.array[index]:
            return []
        value = RecordedValue(stopper.level.ran, leaf.index)
        found = _first_zero(zero_origins(self._there.again, value, index))
        there = (x for x in found if x.op is None or x.op.phase is not Phase.BACKWARD)
        return [explanation_text.link(origin, self._there, first=False) for origin in there]

    def _names(self) -> dict[TensorRef, str]:
        """What tensors of the way back are called."""
        parts = {ref: f"the part by {edge.op}" for edge, ref in self._derived.edges.items()}
        whole = {g: f"d {self._of.short} / d {x.short}" for x, g in self._derived.gradients.items()}
        return {**parts, **whole}

    @cached_property
    def _opened(self) -> tuple[Graph, Differentiation]:
        return unroll_loops(self._graph, self._whole)

    def _path(self, name: str) -> tuple[str, ...]:
        return find_flow_path(*self._opened, self._of, TensorRef(name), self._there.array)


def _vagueness(stopper: Stopper) -> int:
    """How little a stopper says: what names an operand comes first."""
    vague = stopper.cause in ("flat", "starts_at_zero")
    return 2 if vague else 0 if stopper.leaf is not None or stopper.parts else 1


def _once(path: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path))
