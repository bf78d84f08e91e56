"""Session.run of TensorFlow 1: only what is needed runs, each operation once, variables persist."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import NO_FUNCTIONS, Functions
from gradstep.core.engine.device_transfer import get
from gradstep.core.engine.kernels.kernel_choice import REFERENCE, Kernels
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.pass_pipeline import optimize, require_passes
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.why_dead import why_dead, without_value
from gradstep.core.engine.run.blocked_on_queue import stuck
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.feed_values import (
    feed_arrays,
    infer_fed_types,
    instead_of,
    missing_tensor,
)
from gradstep.core.engine.run.layout_choice import Rewrite, has_values, laid_out
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.variable_store import (
    VariableStore,
    initial_store,
    uninitialised_error,
)
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.loop import out_of_reach
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.state.queue import WouldBlockError

_KEPT_PLANS = 8

_Key = tuple[tuple[TensorRef, ...], tuple[str, ...], frozenset[tuple[TensorRef, TensorType]]]


class Session:
    """Runs one graph; several sessions on one graph are independent.

    functions: token -> Python function, for PyFunc. initial: variable -> its first value.
    store: the variables' values now. fast: plans are made smaller by passes, but for those named
    in `without`, and run in reused memory; otherwise every value has a place of its own, as in
    the debugger. kernels: what computes besides NumPy: "auto" for the optional libraries that are
    there, or their names; see gradstep.core.engine.kernels.kernel_choice.
    """

    def __init__(
        self,
        graph: Graph,
        backend: Backend | None = None,
        functions: Functions = NO_FUNCTIONS,
        initial: Mapping[str, np.ndarray] | None = None,
        fast: bool = False,
        without: Collection[str] = (),
        kernels: str | Collection[str] = REFERENCE,
    ) -> None:
        self.graph = graph
        self.fast = fast
        self.backend: Backend = backend or NumpyBackend()
        self.functions = functions
        self.kernels = Kernels.of(kernels)
        self._rewrite: Rewrite | None = None
        if fast:
            require_passes(without)
            self._rewrite = partial(optimize, backend=self.backend, without=without)
        self.store: VariableStore = initial_store(graph, self.backend, initial or {})
        self._recordings: OrderedDict[_Key, Recording] = OrderedDict()

    @property
    def computed_by(self) -> dict[str, str]:
        """Operation -> the library that computes it in NumPy's place, of what has been run."""
        plans = [recording.plan for recording in self._recordings.values()]
        return {name: one.library.name for plan in plans for name, one in plan.kernels.items()}

    @property
    def rounding(self) -> list[str]:
        """Passes that changed what has been run such that results may round otherwise."""
        plans = [recording.plan for recording in self._recordings.values()]
        return list(dict.fromkeys(name for plan in plans for name in plan.rounding))

    def run(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None = None,
        targets: Sequence[str] = (),
    ) -> list[np.ndarray]:
        """Execute `targets` and return the values of `fetches`.

        feeds: tensor or its name -> value; any tensor can be fed. A fetch of a variable or an
        alias of one gives its value at the end of the run. Raises GradstepError; updates done
        before a failure stay done, as in TensorFlow.
        """
        return self.make_callable(fetches, feeds, targets)()

    def make_callable(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None = None,
        targets: Sequence[str] = (),
    ) -> Callable[[], list[np.ndarray]]:
        """`run` on the same feeds again and again, without looking everything up each time."""
        refs, recording = self._prepared(fetches, feeds, targets)

        def again() -> list[np.ndarray]:
            self._execute(recording)
            return [self._value(recording, ref, i) for i, ref in enumerate(refs)]

        return again

    def values(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None = None,
        targets: Sequence[str] = (),
    ) -> list[np.ndarray | None]:
        """`run`, with None for a fetch that is dead."""
        refs, recording = self._prepared(fetches, feeds, targets)
        self._execute(recording)
        dead = [why_dead(recording.plan, ref, recording.value) is not None for ref in refs]
        return [None if dead[i] else self._value(recording, ref, i) for i, ref in enumerate(refs)]

    def _prepared(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None,
        targets: Sequence[str],
    ) -> tuple[list[TensorRef], Recording]:
        """What is fetched, and the recording that gives it, fed."""
        check_cancelled()
        if len(self.graph) == 0:
            raise GradstepError(
                "The Session graph is empty. Add operations to the graph before calling run().",
                kind="RuntimeError",
            )
        refs = [self._fetch(f) for f in fetches]
        arrays = feed_arrays(self.graph, feeds or {})
        recording = self._recording(tuple(refs), tuple(targets), arrays)
        recording.feed(arrays)
        return refs, recording

    def _execute(self, recording: Recording) -> None:
        recording.begin(self.store)
        done, error = recording.run(0, len(recording.plan.steps))
        recording.keep(self.store, done)
        if isinstance(error, WouldBlockError):
            raise stuck(recording.plan, done, error, self.store)
        if error is not None:
            raise error

    def _fetch(self, fetch: Any) -> TensorRef:
        ref = TensorRef.parse(fetch) if isinstance(fetch, str) else fetch
        if not isinstance(ref, TensorRef):
            name = type(fetch).__name__
            raise GradstepError(
                f'Argument `fetch` = {fetch} has invalid type "{name}" must be a string or Tensor. '
                f"(Can not convert a {name} into a Tensor or Operation.)",
                kind="TypeError",
                hint="fetch a tensor or its name",
            )
        missing = missing_tensor(self.graph, ref)
        if missing is None:
            return ref
        inside = out_of_reach(self.graph, ref.op)
        if inside is not None:
            raise inside
        raise GradstepError(
            f'Argument `fetch` = {ref} cannot be interpreted as a Tensor. ("{missing}")',
            kind="ValueError",
            node=ref.op,
            hint=instead_of(self.graph, ref),
        )

    def _recording(
        self,
        fetches: tuple[TensorRef, ...],
        targets: tuple[str, ...],
        arrays: Mapping[TensorRef, np.ndarray],
    ) -> Recording:
        types = infer_fed_types(arrays)
        key = (fetches, targets, frozenset(types.items()))
        found = self._recordings.pop(key, None)
        if found is None or not self._suits(found):
            plan = compile_plan(self.graph, fetches, targets, types)
            found = laid_out(
                plan, self.backend, self.functions, self.store, self._rewrite, self.kernels
            )
        self._recordings[key] = found
        if len(self._recordings) > _KEPT_PLANS:
            self._recordings.popitem(last=False)
        return found

    def _suits(self, recording: Recording) -> bool:
        """Whether the variables are still such as `recording` was laid out for."""
        if isinstance(recording, FastRun):
            return recording.can_begin(self.store)
        return not (self.fast and recording.lacks_values and has_values(recording.plan, self.store))

    def _value(self, recording: Recording, ref: TensorRef, number: int) -> np.ndarray:
        """What fetch number `number` gives."""
        plan: Plan = recording.plan
        dead = why_dead(plan, ref, recording.value)
        if dead is not None:
            raise without_value(number, ref, dead)
        where = plan.tensors[ref]
        index = plan.newest(where) if isinstance(where, str) else where
        array = recording.value(index)
        if array is None:
            name = plan.values[index].variable
            raise uninitialised_error(None, name, plan.variables[name])
        return get(self.backend, array)
