"""A program held against a recorded run of it, tensor by tensor: a framework's values are a device.

Each tensor is computed twice: in a run of the whole program (chained), and of the recorded values
right before it (isolated). The second tells the operation that makes a difference from those that
pass one on. Gradients likewise, from the loss back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.gradients.gradient_scale import GradientScales, next_recorded
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Phase, TensorRef
from gradstep.core.protocol.messages import ComparedNode, Comparison
from gradstep.gpu.asked_effects import asked_for
from gradstep.gpu.comparison_conclusion import Compared, brief, conclusion
from gradstep.gpu.recorded_loops import RecordedLoops
from gradstep.gpu.recorded_rows import Pair, RecordedRows

RECORDED = "recorded"
Found = Mapping[TensorRef, np.ndarray]


def compare_recorded(program: Program, backend: Backend) -> Comparison:
    """`program` on a device, against what was recorded of it. Raises GradstepError where nothing
    was, and for what keeps the program from running."""
    recorded = program.recorded
    if recorded is None or not recorded.can_be_compared_with:
        raise GradstepError(
            "nothing was recorded of this graph elsewhere",
            kind="ValueError",
            hint="open a trace (.gstrace), which holds what its framework computed",
        )
    with np.errstate(all="ignore"):
        nodes = [*_Compared(program, recorded, backend).rows()]
    asked = asked_for(program)
    found = Compared(nodes, backend.name, RECORDED, program.graph, asked=asked)
    sentences = _conclusion(found)
    return Comparison(
        left=backend.name,
        right=RECORDED,
        measured=True,
        source=f"as {recorded.source} computed it",
        nodes=nodes,
        first_divergence=next((node.name for node in nodes if node.creates), None),
        brief=brief(found),
        text=" ".join(sentences),
        sentences=sentences,
        asked=asked,
        hazards=[],
    )


def _conclusion(found: Compared) -> list[str]:
    """And where the first is a gradient: whose, and what is known of it."""
    first = next((node for node in found.rows if node.creates), None)
    if first is None or first.phase == Phase.FORWARD.value:
        return conclusion(found)
    remark = f": {first.rule}" if first.rule else ""
    return [*conclusion(found), f"It is {first.right.text}{remark}."]


class _Compared:
    def __init__(self, program: Program, recorded: RecordedRun, backend: Backend) -> None:
        self._program, self._recorded, self._backend = program, recorded, backend
        self._rows = RecordedRows(program, recorded)
        self._session = Session(
            program.graph, backend, functions=program.functions, initial=program.initial
        )
        self._feeds = {str(ref): array for ref, array in program.feeds.items()}
        self._values = [*self._recorded_values()]
        self._gradients = [*self._recorded_gradients()]

    def rows(self) -> Iterator[ComparedNode]:
        """In the order of the run: values, then gradients from the loss back, then those that
        there are not."""
        pairs = [*self._values, *self._gradients]
        known = {pair.ref: pair.wanted for pair in pairs}
        loops = self._loops(known)
        inside = [] if loops is None else self._by_place(loops)
        chained = self._run([pair.ref for pair in pairs])
        places = self._program.graph.places
        for pair in pairs:
            check_cancelled()
            while inside and places[inside[0][0]] <= places[pair.ref.op]:
                yield inside.pop(0)[1]
            alone = self._isolated(pair, known) if loops is None else loops.isolated(pair.ref)
            yield self._rows.row(pair, chained[pair.ref], alone)
        yield from (row for _, row in inside)
        yield from self._missing()

    def _loops(self, known: dict[TensorRef, np.ndarray]) -> RecordedLoops | None:
        """What was recorded in loops; None for nothing."""
        if not self._recorded.iterations:
            return None
        about = self._program, self._recorded, self._backend
        return RecordedLoops(*about, known, self._is_of_same)

    def _by_place(self, loops: RecordedLoops) -> list[tuple[str, ComparedNode]]:
        """The rows of what is in loops, each with the loop."""
        places = self._program.graph.places
        return sorted(loops.rows(), key=lambda each: places[each[0]])

    def _recorded_values(self) -> Iterator[Pair]:
        kept = {TensorRef.parse(name): c.array for name, c in self._recorded.values.items()}
        order = self._program.graph.places
        there = (ref for ref in kept if ref.op in order)
        for ref in sorted(there, key=lambda ref: (order[ref.op], ref.index)):
            yield Pair(ref, kept[ref])

    def _recorded_gradients(self) -> Iterator[Pair]:
        """Each tensor that holds one once; only if they are of what is differentiated here."""
        if not self._is_of_same:
            return
        graph, seen = self._program.graph, set[TensorRef]()
        scales = GradientScales(self._program.forward, self._recorded)
        pairs = []
        for name, constant in self._recorded.gradients.items():
            ref = TensorRef.parse(name)
            holder = self._program.gradients.get(ref)
            if holder is not None and holder not in seen:
                seen.add(holder)
                pairs.append(Pair(holder, constant.array, ref, scales.of(ref)))
        yield from sorted(pairs, key=lambda pair: graph.places[pair.ref.op])

    def _run(self, refs: list[TensorRef], given: Found | None = None) -> Found:
        feeds = {**self._feeds, **{str(ref): array for ref, array in (given or {}).items()}}
        return dict(zip(refs, self._session.run(refs, feeds), strict=True))

    def _isolated(self, pair: Pair, known: Found) -> np.ndarray | None:
        """What comes of the recorded values right before it."""
        near = self._right_before(pair.ref, known)
        try:
            return self._run([pair.ref], near)[pair.ref]
        except GradstepError:
            return None

    def _right_before(self, ref: TensorRef, known: Found) -> dict[TensorRef, np.ndarray]:
        """The recorded tensors that it is computed of, on each path the nearest."""
        graph, found = self._program.graph, dict[TensorRef, np.ndarray]()
        seen, waiting = {ref.op}, [ref.op]
        while waiting:
            for source in graph[waiting.pop()].inputs:
                if source is None:
                    continue
                if source in known and source.op != ref.op:
                    found[source] = known[source]
                elif source.op not in seen:
                    seen.add(source.op)
                    waiting.append(source.op)
        return found

    def _missing(self) -> Iterator[ComparedNode]:
        """Gradients that were recorded, and are None here: where one ends, it is made so."""
        if not self._is_of_same:
            return
        graph, there = self._program.forward, self._program.gradients
        asked = graph.descendants(*(ref.op for ref in self._program.request.wrt))
        for name, constant in self._recorded.gradients.items():
            ref = TensorRef.parse(name)
            if ref.op in asked and ref not in there and constant.array.any():
                after = [
                    TensorRef.parse(name)
                    for name in next_recorded(graph, self._recorded, ref)
                    if self._recorded.gradients[name].array.any()
                ]
                creates = not after or any(r in there for r in after)
                pair = Pair(ref, constant.array, ref)
                yield self._rows.missing(pair, "the gradient is None", creates)

    @property
    def _is_of_same(self) -> bool:
        """Whether what is differentiated here was so there."""
        return tuple(map(str, self._program.request.of)) == (self._recorded.of,)
