"""The values that outlive a run: variables, by the name of their storage."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.steps import TAKE_EMPTY, Step, Variable, storage_name
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Graph, unknown_name
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.numerics.adjacent_arrays import view_adjacent
from gradstep.core.ops.state.opaque_state import OpaqueState

_DECLARATIONS = frozenset({"VariableV2", "VarHandleOp"})


class VariableStore(Mapping[str, Any]):
    """Variable -> its array on `backend`, or state; an uninitialised variable is absent.

    version: another one once a variable has another array than it had, not only other values.
    """

    def __init__(self, backend: Backend, arrays: Mapping[str, Any] | None = None) -> None:
        self.backend = backend
        self.version = 0
        self._arrays: dict[str, Any] = {}
        self._settled: set[str] = set()  # those whose arrays stay where they are
        self._lent: set[str] = set()  # those whose arrays are others'
        for name, array in (arrays or {}).items():
            self.set(name, array)

    def __getitem__(self, name: str) -> Any:
        return self._arrays[name]

    @property
    def get(self) -> Callable[..., Any]:
        """As of a mapping, and its own: asked of every variable before each run."""
        return self._arrays.get

    def items(self) -> ItemsView[str, Any]:
        return self._arrays.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def set(self, name: str, array: Any) -> None:
        """Keep a copy of `array`, which is on the backend's device; state that is no array
        itself."""
        if isinstance(array, OpaqueState):
            self._arrays[name] = array
            self.version += 1
            return
        held = self._arrays[name] if name in self._settled else None
        if held is not None and (held.shape, held.dtype) == (array.shape, array.dtype):
            held[...] = array
        else:
            self._settled.discard(name)
            self._lent.discard(name)
            self._arrays[name] = self._placed(array)
            self.version += 1

    def refill(self, name: str, array: Any) -> None:
        """`set`, into the array that is there, where it has that shape: whoever has got it sees
        the new values, too."""
        held: Any = self._arrays.get(name)
        states = isinstance(held, OpaqueState) or isinstance(array, OpaqueState)
        if held is None or states or name in self._lent:
            self.set(name, array)
        elif (held.shape, held.dtype) == (array.shape, array.dtype):
            held[...] = array
        else:
            self.set(name, array)

    def hold(self, name: str, array: Any) -> None:
        """Keep `array` itself, which nobody writes to any more."""
        self._settled.discard(name)
        self._lent.add(name)
        self._arrays[name] = array
        self.version += 1

    def hold_all(self, arrays: Mapping[str, Any]) -> None:
        """Keep many arrays themselves: see `hold`."""
        self._settled.difference_update(arrays)
        self._lent.update(arrays)
        self._arrays.update(arrays)
        self.version += 1

    def own(self, names: Iterable[str]) -> None:
        """Have arrays of its own of these variables, to be written to, where it holds others'."""
        for name in self._lent.intersection(names):
            self.set(name, self._arrays[name])

    def lay_side_by_side(self, names: Sequence[str]) -> None:
        """Put these variables, which are of one element type, one behind the other in memory."""
        arrays = [self._arrays[name] for name in names]
        if self._settled.issuperset(names) and view_adjacent(arrays) is not None:
            return
        block = self.backend.empty((sum(a.size for a in arrays),), arrays[0].dtype)
        for name, array in zip(names, arrays, strict=True):
            part, block = block[: array.size], block[array.size :]
            part[...] = array.reshape(-1)
            self._arrays[name] = part.reshape(array.shape)
        self._settled.update(names)
        self._lent.difference_update(names)
        self.version += 1

    def _placed(self, array: Any) -> Any:
        """A copy, aligned as the backend aligns memory."""
        copy = self.backend.empty(array.shape, array.dtype)
        copy[...] = array
        return copy

    def complete(self, arrays: Mapping[str, Any]) -> None:
        """Take the values of `arrays` for those that have none."""
        for name, array in arrays.items():
            if name not in self._arrays:
                self.set(name, array)

    def copy(self) -> VariableStore:
        """An independent store with the same values."""
        return VariableStore(self.backend, self._arrays)

    @property
    def nbytes(self) -> int:
        return sum(int(array.nbytes) for array in self._arrays.values())


def initial_store(
    graph: Graph, backend: Backend, initial: Mapping[str, np.ndarray]
) -> VariableStore:
    """The store that `initial` (variable operation -> value) describes. Raises GradstepError for
    a name that is no variable and a value that does not fit."""
    store = VariableStore(backend)
    for name, value in initial.items():
        set_first(store, graph, name, value)
    return store


def set_first(
    store: VariableStore, graph: Graph, name: str, value: np.ndarray, held: bool = False
) -> None:
    """Let variable operation `name` start as `value`. Raises GradstepError for a name that is no
    variable and a value that does not fit.

    held: nobody writes to the store's arrays, so that it holds `value` itself where nobody can
    write to that either, and it need be no other."""
    array = np.asarray(value)
    kind = require_initial(graph, name, array).numpy
    if held and store.backend.xp is np and _is_final(array, kind):
        store.hold(storage_name(graph[name]), array)
        return
    try:
        with np.errstate(all="ignore"):
            store.set(storage_name(graph[name]), store.backend.put(array.astype(kind, copy=False)))
    except MemoryError:
        raise GradstepError(
            f"variable '{name}' takes {array.size * kind.itemsize / 2**20:.0f} MiB, more "
            "than there is",
            kind="ResourceExhaustedError",
            node=name,
            hint="use a smaller one",
        ) from None


def _is_final(array: np.ndarray, kind: np.dtype) -> bool:
    whole = array.flags.c_contiguous and not kind.hasobject
    return whole and array.dtype == kind and not array.flags.writeable


def uninitialised_error(step: Step | None, name: str, variable: Variable) -> GradstepError:
    """TensorFlow's error for step's use (None: a fetch) of a variable without a value."""
    node = step.op.name if step is not None else variable.op
    hint = f"give {variable.op} an initial value, or run its initializer first"
    kind = "FailedPreconditionError"
    if not variable.resource:
        text = f"Attempting to use uninitialized value {name}"
    elif step is not None and step.definition is not None and step.definition.state.writes:
        kind = "NotFoundError"
        text = f"Resource localhost/{name}/N10tensorflow3VarE does not exist."
    else:
        text = (
            f"Could not find variable {name}. This could mean that the variable has been deleted. "
            "In TF1, it can also mean the variable is uninitialized. Debug info: "
            "container=localhost, status error message="
            f"Resource localhost/{name}/N10tensorflow3VarE does not exist."
        )
    return GradstepError(text, kind=kind, node=node, hint=hint)


def wants_values(step: Step) -> Sequence[int]:
    """Of the values that `step` reads, those that have to be there: not the variable that an Assign
    gives its first one. What is inside a loop says so itself."""
    if step.iteration is not None:
        return ()
    return step.reads[1:] if step.op.type in TAKE_EMPTY else step.reads


def require_initial(graph: Graph, name: str, value: np.ndarray) -> DType:
    """The element type of the variable that is to start as `value`. Raises GradstepError for a name
    that is no variable and a value that does not fit."""
    if name not in graph:
        raise unknown_name(name, graph.operations)
    op = graph[name]
    if op.type not in _DECLARATIONS:
        raise GradstepError(
            f"'{op.name}' is not a variable, so it takes no initial value",
            kind="ValueError",
            node=op.name,
            hint="feed it instead",
        )
    shape = attribute(op, "shape", Shape, UNKNOWN)
    dtype = attribute(op, "dtype", DType)
    if not shape.accepts(value.shape):
        raise GradstepError(
            f"initial value of shape {list(value.shape)} does not fit variable '{op.name}' of "
            f"shape {shape}",
            kind="ValueError",
            node=op.name,
            hint="change the value, or the variable's shape attribute",
        )
    if value.dtype.hasobject != dtype.numpy.hasobject:
        raise GradstepError(
            f"initial value of element type {DType.of(value.dtype).value} does not fit variable "
            f"'{op.name}' of {dtype.value}",
            kind="ValueError",
            node=op.name,
            hint="change the value, or the variable's dtype attribute",
        )
    return dtype
