"""Steps that another device does: what they read is sent there, and what they make comes back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import as_tuple, locate_error
from gradstep.core.engine.placed_backend import PlacedBackend, Transfers
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.declare.placeable_ops import can_be_placed
from gradstep.core.ops.state.opaque_state import OpaqueState

_AT_HOME = (DType.STRING, DType.RESOURCE, DType.VARIANT)


class Copies:
    """What of a run's values lies on other devices besides. It holds as long as nothing but steps
    writes to values: each is made once in a run, before it is read. fed: those that lie where they
    are from run to run."""

    def __init__(self, counts: Transfers, fed: Collection[int] = ()) -> None:
        self._there: dict[tuple[int, str], Any] = {}
        self._counts = counts
        self._fed = frozenset(fed)

    @property
    def there(self) -> int:
        """How many lie there now."""
        return len(self._there)

    def forget(self) -> None:
        """Somebody may have changed values at home, but those that are fed."""
        self._there = {key: there for key, there in self._there.items() if key[0] in self._fed}

    def forget_all(self) -> None:
        """Somebody may have changed any value at home, those that are fed as well."""
        self._there.clear()

    def note(self, value: int, device: str, array: Any) -> None:
        """A step has just made it there."""
        self._there[value, device] = array

    def send(self, value: int, device: str, array: np.ndarray, there: Backend) -> Any:
        """The value on the device; sent there, if it is not there."""
        key = value, device
        if key not in self._there:
            self._there[key] = there.put(array)
            self._counts.count(device, array.nbytes, sent=True)
        return self._there[key]

    def drop(self, values: Collection[tuple[int, str]]) -> None:
        """Nobody reads these on those devices any more, in this run."""
        for key in values:
            if key[0] not in self._fed:
                self._there.pop(key, None)

    def fetch(self, array: Any, device: str, there: Backend) -> np.ndarray:
        """What was made on a device, at home."""
        found = there.get(array)
        self._counts.count(device, found.nbytes, sent=False)
        return found


def with_elsewhere(plan: Plan, backend: Backend) -> Plan:
    """`plan`, which says what other devices do of it."""
    if not isinstance(backend, PlacedBackend):
        return plan
    return replace(plan, elsewhere=dict(_elsewhere(plan, backend)))


def _elsewhere(plan: Plan, backend: PlacedBackend) -> Iterator[tuple[str, str]]:
    """Operations, in loops as well, and the devices that do them."""
    for step in plan.steps:
        kinds = [plan.values[v].type.dtype for v in (*step.reads, *step.writes)]
        if device := goes_elsewhere(backend, step, kinds):
            yield step.op.name, device
        if step.iteration is not None:
            yield from _elsewhere(step.iteration.plan, backend)


def backend_of_body(plan: Plan, backend: Backend) -> Backend:
    """What runs `plan`, of one iteration of a loop: `backend`, or its home, where that does all of
    it, loops inside included."""
    if not isinstance(backend, PlacedBackend) or any(_elsewhere(plan, backend)):
        return backend
    return backend.home


def goes_elsewhere(backend: PlacedBackend, step: Step, kinds: Sequence[DType]) -> str:
    """The device that does a step; "" for home, where texts are as well. kinds: of all that it
    reads and writes."""
    device = backend.device_of(step.op)
    if not device or step.definition is None or not step.writes:
        return ""
    chooses = step.guard is not None and bool(step.guard.inputs)
    able = step.plain and step.computes and step.times == 1 and not chooses
    if not able or not can_be_placed(step.op) or any(kind in _AT_HOME for kind in kinds):
        return ""
    return device


class PlacedCall:
    """One step on another device. cells: value -> its array at home; fixed: whether that is the
    same object in every run; over: what no later step of the run reads on its device."""

    def __init__(
        self,
        step: Step,
        kernel: Callable[..., Any],
        device: str,
        there: Backend,
        home: Backend,
        cells: list[Any],
        fixed: Sequence[int],
        copies: Copies,
        over: Collection[tuple[int, str]] = (),
    ) -> None:
        self._step, self._kernel, self._device, self._there = step, kernel, device, there
        self._home, self._cells, self._fixed, self._copies = home, cells, fixed, copies
        self._over = over

    def __call__(self) -> None:
        inputs: list[Any] = []
        try:
            inputs += [self._sent(value) for value in self._step.reads]
            results = as_tuple(self._kernel(*inputs))
            if len(results) != len(self._step.writes):
                raise GradstepError(
                    f"{len(results)} results where {len(self._step.writes)} were declared",
                    kind="InvalidArgumentError",
                )
            for value, result in zip(self._step.writes, results, strict=True):
                self._keep(value, result)
            self._copies.drop(self._over)
        except GradstepError:
            raise
        except Exception as error:
            raise locate_error(error, self._step.op, self._there, inputs) from error

    def _sent(self, value: int) -> Any:
        array = self._cells[value]
        if isinstance(array, OpaqueState):
            return array
        host = array if isinstance(array, np.ndarray) else self._home.get(array)
        return self._copies.send(value, self._device, host, self._there)

    def _keep(self, value: int, result: Any) -> None:
        host = self._copies.fetch(result, self._device, self._there)
        array = host if self._home.xp is np else self._home.put(host)
        if self._fixed[value]:
            cell = self._cells[value]
            if cell.shape != host.shape:
                raise GradstepError(
                    f"a result of shape {list(host.shape)} where {list(cell.shape)} was declared",
                    kind="InvalidArgumentError",
                    hint="correct the declared shapes",
                )
            cell[...] = array
        else:
            self._cells[value] = array
        self._copies.note(value, self._device, result)
