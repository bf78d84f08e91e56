"""Several devices in one run: the one that values lie on, and others that do some of the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.graph.placed_devices import placed_on
from gradstep.core.ops.declare.placeable_ops import placements
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.declare.table import OpDef


@dataclass
class Transfers:
    """How many values went to each other device and came back, and their bytes."""

    sent: dict[str, list[int]] = field(default_factory=dict)
    fetched: dict[str, list[int]] = field(default_factory=dict)

    def count(self, device: str, size: int, sent: bool) -> None:
        counts = (self.sent if sent else self.fetched).setdefault(device, [0, 0])
        counts[0] += 1
        counts[1] += size


def with_placement(home: Backend, graph: Graph, open_backend: Callable[[str], Backend]) -> Backend:
    """`home`, and the devices that operations of `graph` are placed on; `home` itself where none
    is. open_backend: by a name. Raises GradstepError for a device that there is not, at its first
    operation."""
    devices = {name: device for name, device in placements(graph).items() if device != home.name}
    if not devices:
        return home
    others: dict[str, Backend] = {}
    for name, device in devices.items():
        if device not in others:
            try:
                others[device] = open_backend(device)
            except GradstepError as error:
                error.hint += f"; or place {name} elsewhere: Graph > Device…, --place {name}="
                raise error.at(name) from None
    return PlacedBackend(home, others, devices)


def open_placed(device: str, graph: Graph, open_backend: Callable[[str], Backend]) -> Backend:
    """`with_placement` of the device called `device`."""
    return with_placement(open_backend(device), graph, open_backend)


@dataclass(frozen=True)
class PlacedBackend:
    """See Backend: it is `home`, where every value lies. others: the other devices by name;
    devices: forward operation, in a loop perhaps -> the name of the device that it is placed on;
    transfers: counted over all runs. What a rule of differentiation makes goes
    with its forward operation."""

    home: Backend
    others: Mapping[str, Backend]
    devices: Mapping[str, str]
    transfers: Transfers = field(default_factory=Transfers, compare=False)

    @property
    def name(self) -> str:
        return self.home.name

    @property
    def xp(self) -> Any:
        return self.home.xp

    @property
    def rules(self) -> Rules:
        return self.home.rules

    @property
    def all(self) -> tuple[Backend, ...]:
        """Home first."""
        return self.home, *self.others.values()

    @property
    def measured(self) -> bool:
        return all(each.measured for each in self.all)

    @property
    def source(self) -> str:
        imitated = [each.source for each in self.all if not each.measured]
        return "; ".join(imitated) or self.home.source

    def put(self, array: np.ndarray) -> Any:
        return self.home.put(array)

    def get(self, array: Any) -> np.ndarray:
        return self.home.get(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return self.home.empty(shape, dtype)

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        return self.home.adapt(definition, kernel, op)

    def sync(self) -> None:
        for each in self.all:
            each.sync()

    def memory(self) -> int:
        return sum(each.memory() for each in self.all)

    def device_of(self, op: Operation) -> str:
        """The device of `op`; "" for home."""
        name = placed_on(op) or self.devices.get(op.origin, "")
        return name if name in self.others else ""
