"""Steps of training: what each computes, where it goes wrong, and what the variables hold then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradstep.core.cli.output.command_output import usage
from gradstep.core.data.data_source import DataSource
from gradstep.core.debug.breaks.curves import Curves, FetchedValues, Holders
from gradstep.core.debug.history.fast_runs import Fetch, RunStart
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.requests import minimized
from gradstep.core.engine.device_transfer import get
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.file_errors import inside
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.numerics.finite_numbers import has_nonfinite
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.ops.state.queue import Queue
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.run_choice import Values, runs_only

Began = Mapping[Fetch, np.ndarray | None]


@dataclass(frozen=True)
class Asked:
    """What every step computes.

    losses: tensors that must stay finite; where no loss is known, those that are fetched.
    shown: these, and others whose values are wanted. operations: what runs besides.
    """

    program: Program
    losses: tuple[str, ...]
    shown: tuple[str, ...]
    operations: tuple[str, ...]

    @cached_property
    def summaries(self) -> tuple[str, ...]:
        """Those that are computed, but for what is merged into another one."""
        graph = self.program.graph
        found = [name for name in graph.order if name in self._run and _summarizes(graph[name])]
        merged = {ref.op for name in found for ref in graph[name].inputs if ref is not None}
        return tuple(f"{name}:0" for name in found if name not in merged)

    @property
    def updates(self) -> bool:
        """Whether a step changes a variable."""
        return any(_writes(self.program.graph[name]) for name in self._run)

    @cached_property
    def _run(self) -> set[str]:
        shown = [TensorRef.parse(name).op for name in self.shown]
        graph = self.program.graph
        return graph.ancestors(name for name in (*shown, *self.operations) if name in graph)


def ask_for(loaded: Loaded, names: Sequence[str]) -> Asked:
    """What a run of the document does, with `names` fetched besides. Raises GradstepError."""
    document = loaded.document
    _ = document.graph.order  # a cycle is said first, whatever it keeps from running
    program = derive(document, loaded.functions)
    graph = program.graph
    wanted = [TensorRef.parse(name).short for name in names if not _only_runs(graph, name)]
    fetched = [ref.short for ref in document.fetches if ref.op in graph]
    losses = [ref.short for ref in minimized(document)] or wanted
    losses = losses or [name for name in fetched if not _only_runs(graph, name)]
    # A step need not show all that the document fetches, but a run computes it.
    beside = [*fetched, *(name for name in names if _only_runs(graph, name))]
    operations = dict.fromkeys([*program.targets, *(TensorRef.parse(n).op for n in beside)])
    shown = dict.fromkeys([*losses, *wanted])
    return Asked(program, tuple(losses), tuple(shown), tuple(operations))


def _only_runs(graph: Graph, name: str) -> bool:
    """Whether there is nothing to show of what --fetch names: no output, or a message's bytes."""
    op = graph.operations.get(TensorRef.parse(name).op)
    return runs_only(graph, name) or (op is not None and _summarizes(op))


def _summarizes(op: Operation) -> bool:
    definition = find(op.type)
    return definition is not None and definition.outputs == ("summary",)


def _writes(op: Operation) -> bool:
    definition = find(op.type)
    return definition is not None and bool(definition.state.writes)


def require_work(what: Asked) -> None:
    """Raises GradstepError (UsageError) where a step would change and write nothing."""
    if what.updates or what.summaries:
        return
    wrong = next((p for p in what.program.problems if p.severity == "error"), None)
    why = f": {wrong.text}" if wrong else ""
    raise usage(
        f"nothing to train: a run of this document updates no variable{why}",
        (wrong and wrong.fix)
        or "give it an optimizer, --optimizer 'Adam(learning_rate=0.01)', or --fetch the operation "
        "that updates",
    )


class Training:
    """Steps on a session. Raises GradstepError for what cannot even begin.

    summaries: whether those of each step are wanted. keep: whether what the variables held before
    a step that fails is. data: what is fed besides, another batch in each step. until: an
    expression; "" for none. compute: gives what is asked for of a step, by its number, in place of
    the session.

    done: steps that were made; ended: whether `until` held in the last of them.
    """

    def __init__(
        self,
        loaded: Loaded,
        session: Session,
        what: Asked,
        *,
        summaries: bool = False,
        keep: bool = False,
        data: DataSource | None = None,
        until: str = "",
        compute: Callable[[int, Sequence[str]], list[np.ndarray | None]] | None = None,
    ) -> None:
        self.done, self.ended = 0, False
        self._data, self._compute = data, compute
        self._feeds = loaded.feeds()
        self._session = session
        self._what = what
        self._summaries = what.summaries if summaries else ()
        self._threads = bool(loaded.document.threads)
        self._variables = [op for op in loaded.document.graph if op.type in VARIABLES]
        self._keep = keep
        self._before: VariableStore | None = None
        self._end = _ending(what, until)
        looked_at = (ref.short for ref in self._end.fetches if isinstance(ref, TensorRef))
        self._names = tuple(dict.fromkeys((*what.shown, *self._summaries, *looked_at)))
        starts = [ref for ref in self._end.fetches if isinstance(ref, RunStart)]
        self._starts = {s: storage_name(session.graph[s.tensor.op]) for s in starts}
        if data is None:
            self._same = session.make_values(self._names, self._feeds, what.operations)
        else:
            fed = dict.fromkeys((*self._feeds, *data.columns))
            self._on_batch = session.make_fed(self._names, fed, what.operations)

    def step(self) -> tuple[Values, list[bytes]]:
        """One more: what is shown, and the summaries. Raises GradstepError, which says in which
        step: for an operation that fails, and for a loss that is not finite."""
        self._before = self._trained() if self._keep else None
        try:
            began = self._began() if self._starts else {}
            found = dict(zip(self._names, self._values(), strict=True))
            _require_finite(found, self._what.losses)
            if self._end.until:
                self.ended = self._is_the_end(found, began)
        except GradstepError as error:
            raise inside(self._place, self._explained(error)) from None
        self.done, self._before = self.done + 1, None
        if self._names == self._what.shown:
            return found, []
        texts = [found[name] for name in self._summaries]
        return {n: found[n] for n in self._what.shown}, [t.item() for t in texts if t is not None]

    def _began(self) -> Began:
        """What the step starts with, of what the end hangs on."""
        store = self._session.store
        there = [(start, name) for start, name in self._starts.items() if name in store]
        return {start: get(store.backend, store[name]) for start, name in there}

    def _is_the_end(self, found: Values, began: Began) -> bool:
        fetches = (fetch for fetch in self._end.fetches if isinstance(fetch, TensorRef))
        values: dict[Fetch, np.ndarray | None] = {ref: found[ref.short] for ref in fetches}
        values.update(began)
        return self._end.ends(FetchedValues(values, self._end.holders))

    def validate(self, data: DataSource) -> dict[str, float]:
        """The losses over all rows of `data`, each row counted once: means of those of its batches;
        then metrics that are shown. What runs count, as random operations do, stays as it was.
        Raises GradstepError."""
        before, names = self._copy(), (*self._what.losses, *self._metrics(data))
        totals = np.zeros(len(names))
        for step in range(data.batches_per_epoch):
            feeds = {**self._feeds, **data.feeds_at(step)}
            found = self._session.values(names, feeds)
            means = [np.nan if v is None else float(np.mean(v)) for v in found]
            totals += np.array(means) * len(data.batch_at(step).rows)
        for name, value in before.items():
            self._session.store.refill(name, value)
        return dict(zip(names, (totals / len(data.rows)).tolist(), strict=True))

    def _metrics(self, data: DataSource) -> list[str]:
        """Numbers that are shown, not whole, and computed of the rows, as an accuracy is."""
        graph, fed = self._session.graph, {ref.op for ref in data.columns}
        others = [TensorRef.parse(n) for n in self._what.shown if n not in self._what.losses]
        return [
            ref.short
            for ref in others
            if _is_one_number(self._types.get(ref)) and fed & graph.ancestors([ref.op])
        ]

    @cached_property
    def _types(self) -> TensorTypes:
        return infer_declared(self._session.graph).types

    def variables(self) -> dict[str, Constant]:
        """What the document's variables hold; after a failure, what they held before that step."""
        store = self._trained() if self._before is None else self._before
        names = {op.name: storage_name(op) for op in self._variables}
        return {
            op: Constant(store.backend.get(store[name]))
            for op, name in names.items()
            if name in store
        }

    def state(self) -> dict[str, np.ndarray]:
        """All that the next step starts from: variables, slots, how much random numbers were
        drawn. Raises GradstepError where that is more than arrays."""
        store = self._session.store
        queue = next((name for name, held in store.items() if isinstance(held, Queue)), None)
        if queue is not None:
            raise GradstepError(
                f"what queue '{queue}' holds cannot be kept in a checkpoint",
                kind="UnimplementedError",
                node=queue,
                hint="feed the training instead, or leave --checkpoint out",
            )
        return {name: np.array(store.backend.get(array)) for name, array in self._arrays.items()}

    def resume(self, step: int, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` was after so many steps; what another program keeps there besides
        is left. Raises GradstepError where that is not of this document, with nothing changed."""
        store = self._session.store
        for name, held in self._arrays.items():
            _require_alike(name, held, state.get(name))
        ours = {*self._arrays, *map(storage_name, self._session.graph)}
        for name in ours & state.keys():
            store.set(name, store.backend.put(state[name]))
        self.done = step

    @property
    def _place(self) -> str:
        """Of the step that is made, in words."""
        at = "" if self._data is None else f", {self._data.batch_at(self.done)}"
        return f"step {self.done + 1}{at}"

    def _values(self) -> list[np.ndarray | None]:
        if self._compute is not None:
            return self._compute(self.done, self._names)
        if self._data is None:
            return self._same()
        return self._on_batch({**self._feeds, **self._data.chosen_at(self.done)}.values())

    @property
    def _arrays(self) -> dict[str, Any]:
        """All that a run may change, but what is no array; on the backend."""
        held = self._session.store.items()
        return {name: array for name, array in held if not isinstance(array, OpaqueState)}

    def _copy(self) -> VariableStore:
        return VariableStore(self._session.store.backend, self._arrays)

    def _trained(self) -> VariableStore:
        """A copy of the document's own variables."""
        arrays = self._arrays
        names = (name for name in map(storage_name, self._variables) if name in arrays)
        return VariableStore(self._session.store.backend, {name: arrays[name] for name in names})

    def _explained(self, error: GradstepError) -> GradstepError:
        if error.kind == "DeadlineExceededError" and self._threads:
            error.hint = "training runs no threads; `gradstep run FILE --threads --runs N` does"
        return error


def _ending(what: Asked, until: str) -> Curves:
    """Which step is the last one: `value` is the first loss there. Raises GradstepError."""
    program = what.program
    holders = Holders(program.gradients, program.losses)
    subject = next((TensorRef.parse(name) for name in what.losses), None) if until else None
    graph = program.graph

    def is_variable(ref: TensorRef) -> bool:
        return graph[ref.op].type in VARIABLES

    return Curves(infer_declared(graph).types, holders, (), until, subject, is_variable)


def _require_alike(name: str, held: Any, kept: np.ndarray | None) -> None:
    """Raise GradstepError where a checkpoint's array cannot be what a variable goes on from."""
    if kept is not None and (kept.dtype, kept.shape) == (held.dtype, held.shape):
        return
    there = "nothing" if kept is None else f"{kept.dtype.name}{list(kept.shape)}"
    raise GradstepError(
        f"the checkpoint is of another document: '{name}' is {held.dtype.name}{list(held.shape)} "
        f"here, and {there} there",
        kind="FileError",
        node=name,
        hint="name the folder of this document's checkpoints, or leave --resume out",
    )


def _is_one_number(kind: TensorType | None) -> bool:
    return kind is not None and kind.shape.rank == 0 and kind.dtype.is_floating


def _require_finite(values: Values, losses: Iterable[str]) -> None:
    """Raise GradstepError for a loss that is NaN or infinite."""
    for name in losses:
        value = values[name]
        if value is None or not has_nonfinite(value):
            continue
        wrong = "NaN" if np.isnan(value).any() else "Infinite"
        raise GradstepError(
            f"{wrong} loss during training. '{name}' is {value if value.ndim == 0 else wrong}",
            kind="NanLossDuringTrainingError",
            node=TensorRef.parse(name).op,
        )
