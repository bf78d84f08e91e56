"""What views look up in a program, by name; each index is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import count
from operator import attrgetter

from gradstep.core.graph.model import Edge
from gradstep.core.protocol.messages import ProgramInfo, StepInfo
from gradstep.core.protocol.vocabulary import PhaseName

_OP = attrgetter("op")


class ProgramIndex:
    """Of one program; of none everything is empty."""

    def __init__(self, program: ProgramInfo | None) -> None:
        self.program = program

    @cached_property
    def steps(self) -> Mapping[str, StepInfo]:
        """Operation -> its step."""
        steps = () if self.program is None else self.program.steps
        return dict(zip(map(_OP, steps), steps, strict=True))

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Operation -> the number of its step."""
        steps = () if self.program is None else self.program.steps
        return dict(zip(map(_OP, steps), count(), strict=False))

    @cached_property
    def by_phase(self) -> Mapping[PhaseName, Sequence[str]]:
        """Phase -> the operations whose steps are of it, in their order."""
        found: dict[PhaseName, list[str]] = {}
        for step in () if self.program is None else self.program.steps:
            found.setdefault(step.phase, []).append(step.op)
        return found

    @cached_property
    def updates(self) -> bool:
        """Whether a run changes a variable."""
        return self.program is not None and any(step.writes for step in self.program.steps)

    def maker(self, tensor: str) -> StepInfo | None:
        """The step that makes a tensor ("a:0")."""
        return self.steps.get(tensor.rpartition(":")[0])

    @cached_property
    def carried(self) -> Mapping[Edge, str]:
        """Wire -> the tensor that goes back over it."""
        edges = () if self.program is None else self.program.edges
        return {Edge(edge.op, edge.index): edge.gradient for edge in edges}

    @cached_property
    def waiting(self) -> Mapping[Edge, str]:
        """Wire over which nothing comes back yet -> what that waits for."""
        edges = () if self.program is None else self.program.waiting_edges
        return {Edge(edge.op, edge.index): edge.why for edge in edges}
