"""A document as lints look at it: what runs execute, what losses are computed from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradstep.core.autodiff.recognition.imported_request import find_written_variables
from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.document.requests import every_request
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.ops.build.variable import READS, VARIABLES
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import Inference, infer_declared
from gradstep.core.program.acyclic_part import without_cycles
from gradstep.core.program.default_targets import run_targets

# What gives on the numbers that it gets, in another shape perhaps.
_PASSES_ON = frozenset(
    ("Identity", "Reshape", "Squeeze", "ExpandDims", "StopGradient", "Snapshot", "PreventGradient")
)
_DATA = ("Placeholder", "Iterator", "Queue")


@dataclass(frozen=True, eq=False)
class Examined:
    """program: as derived from the document, cut where it waits or whole: nothing here hangs on
    that. session: whose recorded runs are looked at; None for none."""

    document: Document
    program: Program
    session: DebugSession | None = None

    @property
    def graph(self) -> Graph:
        """All operations, those that were derived, too."""
        return self.program.graph

    @cached_property
    def drawn(self) -> tuple[Operation, ...]:
        """The document's own operations, without those on a cycle."""
        return tuple(op for op in self.document.graph if op.name in self.graph)

    @cached_property
    def forward(self) -> tuple[Operation, ...]:
        """Those of them that compute something forward, and update nothing."""
        return tuple(op for op in self.drawn if op.phase is Phase.FORWARD)

    @cached_property
    def inference(self) -> Inference:
        return infer_declared(self.graph)

    @cached_property
    def losses(self) -> tuple[TensorRef, ...]:
        """All that is differentiated, here or by the program that the graph is from."""
        of = (ref for request in every_request(self.document) for ref in request.of)
        return tuple(dict.fromkeys(ref for ref in of if ref.op in self.graph))

    @cached_property
    def behind_losses(self) -> set[str]:
        """The operations that losses are computed from, along wires, the losses' own included."""
        return self.sources(ref.op for ref in self.losses)

    @cached_property
    def executed(self) -> set[str]:
        """All that runs, threads or the initialiser execute, however much of it waits for a feed
        now."""
        return self.graph.ancestors(name for name in self._asked() if name in self.graph)

    @cached_property
    def moved(self) -> dict[str, list[str]]:
        """Variable -> the operations that give it new values."""
        found: dict[str, list[str]] = {}
        types = ((type, find(type)) for type in self.graph.by_type)
        writing = [type for type, known in types if known is not None and known.state.writes]
        for op in map(self.graph.operations.__getitem__, self.graph.of_types(writing)):
            is_wired = all(ref is not None and ref.op in self.graph for ref in op.inputs)
            for name in find_written_variables(op, self.graph) if is_wired else ():
                found.setdefault(name, []).append(op.name)
        return found

    def running(self, *names: str) -> Remedy:
        """Let runs execute these as well. A document that names no targets runs what can run of all
        that it has, and goes on with that."""
        return Remedy("run", (*self._targets, *names))

    @cached_property
    def wanted_names(self) -> frozenset[str]:
        """The operations that gradients are asked with respect to."""
        return frozenset(ref.op for request in every_request(self.document) for ref in request.wrt)

    @cached_property
    def _targets(self) -> tuple[str, ...]:
        return run_targets(self.document, without_cycles(self.document.graph), ())

    def _asked(self) -> Iterator[str]:
        document, program = self.document, self.program
        yield from self._targets
        yield from (ref.op for ref in (*document.fetches, *self.losses, *program.fetches))
        yield from program.targets
        yield document.init
        for thread in document.threads:
            yield from (*thread.targets, thread.closes, *(ref.op for ref in thread.fetches))

    def sources(self, names: Iterable[str]) -> set[str]:
        """`names` and all that they are computed from: along wires, not along waits."""
        seen: set[str] = set()
        stack = [*names]
        while stack:
            check_cancelled()
            name = stack.pop()
            if name not in seen and name in self.graph:
                seen.add(name)
                stack.extend(ref.op for ref in self.graph[name].inputs if ref is not None)
        return seen

    @cached_property
    def learned(self) -> frozenset[str]:
        """The variables, and all that is computed from them along wires."""
        return self.graph.takers(*(op.name for op in self.graph if op.type in VARIABLES))

    def nearest_sources(self, ref: TensorRef, most: int) -> list[str]:
        """What a tensor is computed from along wires, at most so many, the nearest first."""
        found: dict[str, None] = {}
        queue = deque([ref.op])
        while queue and len(found) < most:
            name = queue.popleft()
            if name not in found and name in self.graph:
                found[name] = None
                queue.extend(r.op for r in self.graph[name].inputs if r is not None)
        return [*found]

    def source(self, op: Operation, index: int = 0) -> Operation | None:
        """What makes input `index` of `op`, behind all that only passes it on."""
        return self.maker(op.inputs[index] if index < len(op.inputs) else None)

    def maker(self, ref: TensorRef | None) -> Operation | None:
        """What makes a tensor, behind all that only passes it on."""
        check_cancelled()
        while ref is not None and ref.op in self.graph:
            op = self.graph[ref.op]
            if op.type not in _PASSES_ON:
                return op
            ref = op.inputs[0] if op.inputs else None
        return None

    def shape(self, ref: TensorRef | None) -> tuple[int | None, ...] | None:
        """The sizes of a tensor as far as they are known; None where not even their number is."""
        kind = None if ref is None else self.inference.types.get(ref)
        return None if kind is None else kind.shape.dims

    def constant(self, ref: TensorRef | None) -> np.ndarray | None:
        """A value that is known before any run."""
        return None if ref is None or ref.index else self.inference.constants.get(ref.op)

    def variable_read(self, op: Operation, index: int) -> str:
        """The variable that input `index` of `op` is the value of; "" for none."""
        source = self.source(op, index)
        if source is not None and source.type == "ReadVariableOp":
            source = self.source(source)
        return source.name if source is not None and self.is_variable(source.name) else ""

    def is_variable(self, name: str) -> bool:
        return name in self.graph and self.graph[name].type in VARIABLES


def is_data(op: Operation) -> bool:
    """Whether it gives what is fed, or comes from outside in another way."""
    return op.type.startswith(_DATA)


def reads_only(op: Operation) -> bool:
    """Whether it does nothing but read a variable, or pass something on."""
    return op.type in READS or op.type in _PASSES_ON
