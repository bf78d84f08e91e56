"""Recording a device while it is compared with another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.gpu.device_recording import DeviceRecording, RecordedNode, digest_of, starts_of
from gradstep.gpu.lockstep import Turn, begun


@dataclass
class Recorder:
    """Gathers what the right-hand device gives, in a run of `program`. text: what the device is, as
    of DeviceRecording; document: the file of what is run."""

    program: Program
    text: str
    document: bytes
    nodes: dict[str, RecordedNode] = field(default_factory=dict)

    def noted(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """The turns, each noted as it goes by."""
        for turn in turns:
            if turn.computes:
                digest = digest_of(turn.op)
                self.nodes[turn.op.name] = RecordedNode(digest, turn.right, turn.isolated)
            yield turn

    def recording(self, left: Backend, right: Backend) -> DeviceRecording:
        """All of it, once it is over."""
        return DeviceRecording(
            device=right.name,
            text=self.text,
            date=datetime.now(UTC).date().isoformat(),
            measured=right.measured,
            rules=right.rules,
            left=left.name,
            is_apart=left.xp is not right.xp,
            starts=starts_of(*begun(self.program, left)),
            nodes=self.nodes,
            document=self.document,
        )
