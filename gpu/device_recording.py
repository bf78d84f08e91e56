"""What a device gave, node by node: kept, to hold other devices against it where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.io.native import npy
from gradstep.core.io.native.attribute_records import TensorFiles
from gradstep.core.io.native.operation_records import write_graph
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.part_digest import digest
from gradstep.gpu.device_run import Outcome

_DIGITS = 16


@dataclass(frozen=True)
class RecordedNode:
    """digest: of the operation. chained: on the device's own results; isolated: on those of the
    device it was compared with."""

    digest: str
    chained: Outcome
    isolated: Outcome


@dataclass(frozen=True)
class DeviceRecording:
    """device: its name, as users write it. text: the card or processor, driver and library. date:
    the day, in UTC. rules: that
    it ran under. left: the device that it was compared with, and is_apart whether the two hold
    arrays of two kinds. starts: feeds and variables -> digest of what they began with. document:
    the file of what was run, with what was fed."""

    device: str
    text: str
    date: str
    measured: bool
    rules: Rules
    left: str
    is_apart: bool
    starts: Mapping[str, str]
    nodes: Mapping[str, RecordedNode]
    document: bytes

    @property
    def name(self) -> str:
        """As columns and sentences call it."""
        return f"{self.device}, recorded {self.date}"

    @property
    def source(self) -> str:
        return f"recorded on {self.text}, {self.date}"


def digest_of(op: Operation) -> str:
    """Of an operation with its attributes and what it reads, whatever it is drawn beside."""
    files = TensorFiles()
    (record,) = write_graph(Graph({op.name: op}), files)
    text = msgspec.json.encode(record, order="deterministic")
    return digest([text, *files.members])[:_DIGITS]


def digest_of_array(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        return digest([repr(array.tolist())])[:_DIGITS]
    return digest([npy.to_bytes(array)])[:_DIGITS]


def starts_of(plan: Plan, start: Mapping[int, Any]) -> dict[str, str]:
    """Of what a run begins with: feeds and variables -> digest."""
    found = {}
    for index, array in start.items():
        if not isinstance(array, OpaqueState):
            value = plan.values[index]
            found[value.variable or str(value.ref)] = digest_of_array(array)
    return found
