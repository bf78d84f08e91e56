"""One tensor of a program held against what was recorded of it: the row that says how it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradstep.core.checks.gradients.recorded_tolerance import recorded_allowance, recorded_error
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.graph.foreign_origin import FOREIGN_OP
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import Phase, TensorRef
from gradstep.core.protocol.messages import ComparedNode, SideResult
from gradstep.core.protocol.vocabulary import ComparedVerdict
from gradstep.gpu.compare import side
from gradstep.gpu.device_run import Outcome
from gradstep.gpu.difference_detail import detail_of
from gradstep.gpu.tensor_distance import distance, identical, measure


@dataclass(frozen=True)
class Pair:
    """A tensor and what was recorded of it. of: where it is a gradient, the tensor it belongs to.
    scale: see GradientScales."""

    ref: TensorRef
    wanted: np.ndarray
    of: TensorRef | None = None
    scale: float = 0.0


class RecordedRows:
    """Of a program, and what was recorded of it."""

    def __init__(self, program: Program, recorded: RecordedRun) -> None:
        self._program, self._recorded = program, recorded

    def differs(self, pair: Pair, left: np.ndarray) -> bool:
        """Whether `left` is another than what was recorded, beyond what two frameworks may be
        apart."""
        allowed = recorded_allowance(pair.wanted, self._recorded.epsilon)
        return recorded_error(left, pair.wanted, pair.scale) > allowed

    def row(
        self, pair: Pair, left: np.ndarray, alone: np.ndarray | None, iteration: str = ""
    ) -> ComparedNode:
        """left: what it is here; alone: of the recorded values right before it, None where that
        is not known."""
        op = anywhere(self._program.graph, pair.ref.op)
        creates = alone is not None and self.differs(pair, alone)
        differs = creates or self.differs(pair, left)
        same = left.shape == pair.wanted.shape and bool(identical(left, pair.wanted).all())
        verdict: ComparedVerdict = "differs" if differs else "equal" if same else "close"
        metrics = measure(left, pair.wanted)
        phase: Phase = Phase.FORWARD if pair.of is None else Phase.BACKWARD
        return ComparedNode(
            name=op.name,
            type=op.type,
            phase=phase.value,
            iteration=iteration,
            verdict=verdict,
            left=side(Outcome((left,))),
            right=side(Outcome((pair.wanted,)), 0, self._whose(pair)),
            created=None if alone is None else distance(pair.wanted, alone),
            inherited=None if alone is None else distance(alone, left),
            differs=differs,
            creates=creates,
            rule=self._remark(pair),
            metrics={k: v for k, v in metrics.items() if np.isfinite(v)},
            detail=detail_of(0, left, pair.wanted, None) if differs else None,
        )

    def missing(self, pair: Pair, why: str, creates: bool, iteration: str = "") -> ComparedNode:
        """Of what was there, and is not here."""
        op = anywhere(self._program.graph, pair.ref.op)
        phase: Phase = Phase.FORWARD if pair.of is None else Phase.BACKWARD
        because = self._ends_at(pair) if creates else ""
        return ComparedNode(
            name=op.name,
            type=op.type,
            phase=phase.value,
            iteration=iteration,
            verdict="differs",
            kind="semantics" if because else "",
            because=because,
            left=SideResult(status="unavailable", text=why),
            right=side(Outcome((pair.wanted,)), 0, self._whose(pair)),
            differs=True,
            creates=creates,
            rule=self._remark(pair),
        )

    def _ends_at(self, pair: Pair) -> str:
        """Why it is None, as it is known of a tensor before it whose gradient is None as well; ""
        where that is known of none."""
        graph, there = self._program.forward, self._program.gradients
        if pair.of is None or pair.of.op not in graph:
            return ""
        before = graph.ancestors([pair.of.op])
        remarks = self._recorded.remarks.items()
        ended = (why for name, why in remarks if name in before and TensorRef(name) not in there)
        return next(ended, "")

    def _remark(self, pair: Pair) -> str:
        return "" if pair.of is None else self._recorded.remarks.get(pair.of.op, "")

    def _whose(self, pair: Pair) -> str:
        """Of which foreign operation it is, or of which tensor it is the gradient."""
        if pair.of is not None:
            return f"the gradient of {pair.of.short}"
        return str(anywhere(self._program.graph, pair.ref.op).attrs.get(FOREIGN_OP, ""))
