"""A program held against a recorded run of it, tensor by tensor: a framework's values are a device.

Each tensor is computed twice: in a run of the whole program (chained), and of the recorded values
right before it (isolated). The second tells the operation that makes a difference from those that
pass one on. Gradients likewise, from the loss back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.gradients.gradient_scale import GradientScales, next_recorded
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.foreign_origin import FOREIGN_OP
from gradstep.core.graph.model import Phase, TensorRef
from gradstep.core.graph.number_kinds import kind_of, limits_of
from gradstep.core.protocol.messages import ComparedNode, Comparison, SideResult
from gradstep.core.protocol.vocabulary import ComparedVerdict
from gradstep.gpu.asked_effects import asked_for
from gradstep.gpu.compare import side
from gradstep.gpu.comparison_conclusion import Compared, brief, conclusion
from gradstep.gpu.device_run import Outcome
from gradstep.gpu.tensor_distance import distance, identical, measure

RECORDED = "recorded"
_ROUNDINGS = 1000  # of an element type's ε, that two frameworks may be apart in the end
_LEAST = {2: 2e-2}  # by bytes of an element: float16 keeps three digits
_SHORT, _MOST = 8, 0.1  # roundings of a short element type that are allowed, and never more
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


@dataclass(frozen=True)
class _Pair:
    """A tensor and what was recorded of it. of: where it is a gradient, the tensor it belongs to.
    scale: see GradientScales."""

    ref: TensorRef
    wanted: np.ndarray
    of: TensorRef | None = None
    scale: float = 0.0


class _Compared:
    def __init__(self, program: Program, recorded: RecordedRun, backend: Backend) -> None:
        self._program, self._recorded = program, recorded
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
        chained = self._run([pair.ref for pair in pairs])
        known = {pair.ref: pair.wanted for pair in pairs}
        for pair in pairs:
            check_cancelled()
            yield self._row(pair, chained[pair.ref], self._isolated(pair, known))
        yield from self._missing()

    def _recorded_values(self) -> Iterator[_Pair]:
        kept = {TensorRef.parse(name): c.array for name, c in self._recorded.values.items()}
        order = self._program.graph.places
        there = (ref for ref in kept if ref.op in order)
        for ref in sorted(there, key=lambda ref: (order[ref.op], ref.index)):
            yield _Pair(ref, kept[ref])

    def _recorded_gradients(self) -> Iterator[_Pair]:
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
                pairs.append(_Pair(holder, constant.array, ref, scales.of(ref)))
        yield from sorted(pairs, key=lambda pair: graph.places[pair.ref.op])

    def _run(self, refs: list[TensorRef], given: Found | None = None) -> Found:
        feeds = {**self._feeds, **{str(ref): array for ref, array in (given or {}).items()}}
        return dict(zip(refs, self._session.run(refs, feeds), strict=True))

    def _isolated(self, pair: _Pair, known: Found) -> np.ndarray | None:
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

    def _row(self, pair: _Pair, left: np.ndarray, alone: np.ndarray | None) -> ComparedNode:
        op = self._program.graph[pair.ref.op]
        parts = _error(left, pair.wanted, pair.scale)
        own = None if alone is None else _error(alone, pair.wanted, pair.scale)
        allowed = max(_allowed(pair.wanted), min(_SHORT * self._recorded.epsilon, _MOST))
        creates = own is not None and own > allowed
        differs = parts > allowed or creates
        same = left.shape == pair.wanted.shape and bool(identical(left, pair.wanted).all())
        verdict: ComparedVerdict = "differs" if differs else "equal" if same else "close"
        metrics = measure(left, pair.wanted)
        phase: Phase = Phase.FORWARD if pair.of is None else Phase.BACKWARD
        return ComparedNode(
            name=op.name,
            type=op.type,
            phase=phase.value,
            verdict=verdict,
            left=side(Outcome((left,))),
            right=side(Outcome((pair.wanted,)), 0, self._whose(pair)),
            created=None if alone is None else distance(pair.wanted, alone),
            inherited=None if alone is None else distance(alone, left),
            differs=differs,
            creates=creates,
            rule="" if pair.of is None else self._recorded.remarks.get(pair.of.op, ""),
            metrics={k: v for k, v in metrics.items() if np.isfinite(v)},
        )

    def _whose(self, pair: _Pair) -> str:
        """Of which foreign operation it is, or of which tensor it is the gradient."""
        if pair.of is not None:
            return f"the gradient of {pair.of.short}"
        return str(self._program.graph[pair.ref.op].attrs.get(FOREIGN_OP, ""))

    def _missing(self) -> Iterator[ComparedNode]:
        """Gradients that were recorded, and are None here: where one ends, it is made so."""
        if not self._is_of_same:
            return
        graph, there = self._program.forward, self._program.gradients
        asked = graph.descendants(*(ref.op for ref in self._program.request.wrt))
        for name, constant in self._recorded.gradients.items():
            ref = TensorRef.parse(name)
            if ref.op in asked and ref not in there and constant.array.any():
                after = [*map(TensorRef.parse, next_recorded(graph, self._recorded, ref))]
                ends = not after or any(r in there for r in after)
                yield self._none_here(ref, constant.array, ends)

    @property
    def _is_of_same(self) -> bool:
        """Whether what is differentiated here was so there."""
        return tuple(map(str, self._program.request.of)) == (self._recorded.of,)

    def _none_here(self, ref: TensorRef, wanted: np.ndarray, ends: bool) -> ComparedNode:
        return ComparedNode(
            name=ref.op,
            type=self._program.graph[ref.op].type,
            phase=Phase.BACKWARD.value,
            verdict="differs",
            left=SideResult(status="unavailable", text="the gradient is None"),
            right=side(Outcome((wanted,)), 0, f"the gradient of {ref.short}"),
            differs=True,
            creates=ends or ref.op in self._recorded.remarks,
            rule=self._recorded.remarks.get(ref.op, ""),
        )


def _error(found: np.ndarray, wanted: np.ndarray, scale: float) -> float:
    """The largest difference, relative to the largest number, or to `scale` where that is more;
    infinite where shapes or the places of NaN and infinities are others."""
    if found.shape != wanted.shape:
        return np.inf
    if kind_of(found.dtype) not in "fc":
        return 0.0 if np.array_equal(found, wanted) else np.inf
    a, b = found.astype(np.complex128), wanted.astype(np.complex128)
    if not identical(np.where(np.isfinite(a), 0, a), np.where(np.isfinite(b), 0, b)).all():
        return np.inf
    a, b = np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0)
    largest = max(float(np.abs(b).max(initial=0)), scale)
    apart = float(np.abs(a - b).max(initial=0))
    return apart / largest if largest else (np.inf if apart else 0.0)


def _allowed(wanted: np.ndarray) -> float:
    if kind_of(wanted.dtype) not in "fc":
        return 0.0
    size = wanted.dtype.itemsize // (2 if kind_of(wanted.dtype) == "c" else 1)
    return _LEAST.get(size, _ROUNDINGS * float(limits_of(wanted.dtype).eps))
