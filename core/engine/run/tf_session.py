"""Session.run of TensorFlow 1: only what is needed runs, each operation once, variables persist."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import NO_FUNCTIONS, Functions
from gradstep.core.engine.kernels.kernel_choice import REFERENCE, Kernels
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.pass_pipeline import optimize, require_passes
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.chosen_rows import ChosenRows, taken
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.feed_values import (
    fed_tensor,
    feed_arrays,
    instead_of,
    missing_tensor,
)
from gradstep.core.engine.run.layout_choice import Rewrite, has_values, laid_out
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.run_signature import Question, Signature
from gradstep.core.engine.run.signature_run import SignatureRun
from gradstep.core.engine.run.variable_store import VariableStore, initial_store
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import out_of_reach
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.typing.inference import infer_declared

_KEPT_PLANS, _KEPT_QUESTIONS = 8, 64


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
        self._runs: OrderedDict[Signature, SignatureRun] = OrderedDict()
        self._questions: dict[Hashable, Question] = {}

    @property
    def recordings(self) -> list[Recording]:
        """What has been run and is kept, each in its memory."""
        return [run.recording for run in self._runs.values()]

    @property
    def computed_by(self) -> dict[str, str]:
        """Operation -> the library that computes it in NumPy's place, of what has been run."""
        plans = [recording.plan for recording in self.recordings]
        return {name: one.library.name for plan in plans for name, one in plan.kernels.items()}

    @property
    def rounding(self) -> list[str]:
        """Passes that changed what has been run such that results may round otherwise."""
        plans = [recording.plan for recording in self.recordings]
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
        run = self._prepared(fetches, feeds, targets)
        run.execute(self.store)
        return run.results()

    def values(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None = None,
        targets: Sequence[str] = (),
    ) -> list[np.ndarray | None]:
        """`run`, with None for a fetch that is dead."""
        run = self._prepared(fetches, feeds, targets)
        run.execute(self.store)
        return run.living()

    def make_callable(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None = None,
        targets: Sequence[str] = (),
    ) -> Callable[[], list[np.ndarray]]:
        """`run` on the same feeds again and again, without looking everything up each time."""
        again = self._again(fetches, feeds, targets)
        return lambda: again().results()

    def make_values(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None = None,
        targets: Sequence[str] = (),
    ) -> Callable[[], list[np.ndarray | None]]:
        """`make_callable`, of `values`."""
        again = self._again(fetches, feeds, targets)
        return lambda: again().living()

    def make_fed(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Iterable[TensorRef | str],
        targets: Sequence[str] = (),
    ) -> Callable[[Iterable[np.ndarray | ChosenRows]], list[np.ndarray | None]]:
        """`values` on other values for `feeds` each time, given in their order, without looking up
        each time what is asked for."""
        fetches, feeds, targets = tuple(fetches), tuple(feeds), tuple(targets)
        refs = [fed_tensor(feed) for feed in feeds]
        order = sorted(range(len(refs)), key=lambda i: (refs[i].op, refs[i].index))
        signatures: dict[Hashable, Signature] = {}

        def fed(values: Iterable[np.ndarray | ChosenRows]) -> list[np.ndarray | None]:
            given = [*values]
            arrays: Sequence[np.ndarray | ChosenRows] = [given[i] for i in order]
            look = tuple([(array.shape, array.dtype) for array in arrays])
            signature = signatures.get(look)
            if signature is None:  # else nothing of it has to be looked at
                kinds = dict(zip(feeds, taken(given), strict=True))
                signature, arrays = self._looked_up(fetches, kinds, targets)
                if look == tuple([(array.shape, array.dtype) for array in arrays]):
                    signatures[look] = signature
            else:
                check_cancelled()
            run = self._run_of(signature)
            run.feed(arrays, None)
            run.execute(self.store)
            return run.living()

        return fed

    def _again(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None,
        targets: Sequence[str],
    ) -> Callable[[], SignatureRun]:
        """Makes one more run on these feeds. Others may be made in between, also fed otherwise."""
        signature, given = self._looked_up(fetches, feeds, targets)
        arrays = [np.array(array) for array in given]
        run, me = self._run_of(signature), object()

        def again() -> SignatureRun:
            nonlocal run
            check_cancelled()
            if not self._suits(run.recording):
                run = self._run_of(signature)
            if run.fed_by is not me:
                run.feed(arrays, me)
            run.execute(self.store)
            return run

        return again

    def _prepared(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None,
        targets: Sequence[str],
    ) -> SignatureRun:
        """What gives the fetches, fed."""
        signature, arrays = self._looked_up(fetches, feeds, targets)
        run = self._run_of(signature)
        run.feed(arrays, None)
        return run

    def _looked_up(
        self,
        fetches: Iterable[TensorRef | str],
        feeds: Mapping[Any, Any] | None,
        targets: Sequence[str],
    ) -> tuple[Signature, list[np.ndarray]]:
        """What is asked for, and what is fed in its order."""
        check_cancelled()
        fetches, feeds = tuple(fetches), feeds or {}
        key = (fetches, tuple(targets), tuple(feeds)) if isinstance(feeds, Mapping) else None
        try:
            question = self._questions.get(key)
        except TypeError:  # what cannot be hashed names no tensor
            question = None
        if question is None:
            return self._look_up(key, fetches, feeds, targets)
        arrays = question.arrays(feeds.values())
        return question.signature(arrays) or self._signature(question, arrays), arrays

    def _look_up(
        self,
        key: Hashable,
        fetches: Iterable[Any],
        feeds: Mapping[Any, Any],
        targets: Sequence[str],
    ) -> tuple[Signature, list[np.ndarray]]:
        if len(self.graph) == 0:
            raise GradstepError(
                "The Session graph is empty. Add operations to the graph before calling run().",
                kind="RuntimeError",
            )
        refs = [self._fetch(f) for f in fetches]
        found = feed_arrays(self.graph, feeds)
        known = infer_declared(self.graph).types
        question = Question(refs, targets, {ref: known.get(ref) for ref in found})
        arrays = question.in_order(found.values())
        if question.is_clear and len(found) == len(feeds):
            if len(self._questions) == _KEPT_QUESTIONS:
                self._questions.clear()
            self._questions[key] = question
        return self._signature(question, arrays), arrays

    def _signature(self, question: Question, arrays: Sequence[np.ndarray]) -> Signature:
        """That of a question which is fed like this for the first time."""
        new = Signature(question.fetches, question.targets, question.types(arrays))
        signature = next((one for one in self._runs if one.says(new)), new)
        question.remember(arrays, signature)
        return signature

    def _run_of(self, signature: Signature) -> SignatureRun:
        """What runs it, laid out for the variables as they are."""
        found = self._runs.get(signature)
        if found is None or not self._suits(found.recording):
            types = signature.fed
            plan = compile_plan(self.graph, signature.fetches, signature.targets, types)
            recording = laid_out(
                plan, self.backend, self.functions, self.store, self._rewrite, self.kernels
            )
            found = self._runs[signature] = SignatureRun(signature, recording)
        self._runs.move_to_end(signature)
        if len(self._runs) > _KEPT_PLANS:
            self._runs.popitem(last=False)
        return found

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

    def _suits(self, recording: Recording) -> bool:
        """Whether the variables are still such as `recording` was laid out for."""
        if isinstance(recording, FastRun):
            return recording.can_begin(self.store)
        return not (self.fast and recording.lacks_values and has_values(recording.plan, self.store))
