"""The user's document: a forward graph and all that was asked of it; everything else is derived."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.expectation import Expectation
from gradstep.core.document.kept_branch import KeptBranch
from gradstep.core.graph.model import Constant, Graph, TensorRef


class CodeKind(StrEnum):
    """What a piece of the document's Python is for."""

    GRADIENT = "gradient"  # f(op, *grads) that builds operations
    NUMPY_GRADIENT = "numpy_gradient"  # f(*grads, *inputs) that computes NumPy arrays
    PYFUNC = "pyfunc"  # f(*arrays) that computes NumPy arrays


@dataclass(frozen=True, slots=True)
class CodeItem:
    """One function, as source text. Of several at its top level, the one that is called so or
    registered as that gradient is meant, else the last."""

    name: str
    kind: CodeKind
    source: str


@dataclass(frozen=True, slots=True)
class Optimizer:
    """`tf.train.<type>Optimizer(**hyper).minimize(of, var_list=wrt, name=name)`.

    type:    one of gradstep.core.train's ("Adam", "GradientDescent"…).
    hyper:   by TensorFlow's argument names (learning_rate, beta1…); flags are 0 or 1.
    of:      its loss; () for what the document's request differentiates.
    wrt:     its var_list; () for the variables of the request, or all of the graph's.
    scales:  variable -> what its gradient is multiplied by, as programs do between
             `compute_gradients` and `apply_gradients`.
    name:    the scope of its operations, and the one operation that runs them; "" for "train".
    enabled: whether runs execute it.
    schedule, clip, decay: how its learning rate goes on, gradients are clipped and weights decay,
             as gradstep.core.train.training_settings reads it; "" for not at all.
    """

    type: str
    hyper: Mapping[str, float]
    of: tuple[TensorRef, ...] = ()
    wrt: tuple[TensorRef, ...] = ()
    scales: Mapping[str, float] = field(default_factory=dict)
    name: str = ""
    enabled: bool = True
    schedule: str = ""
    clip: str = ""
    decay: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """How the document was last looked at: node centres in scene units, collapsed scopes."""

    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    collapsed: frozenset[str] = frozenset()


def _frozen_map() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Document:
    """graph:     the forward graph (an imported training graph may hold gradients too).
    request:   gradients to derive, with stops and overrides.
    imported:  gradients that the graph holds already, as its program made them.
    initial:   variable name -> initial value.
    feeds:     tensor name ("data:0") -> value fed to every run.
    data:      rows of which every run is fed a batch, in the place of feeds; None for none.
    packed:    name -> rows that are in the document itself; columns of data name them, see
               packed_rows.
    optimizers: updates to derive, in the order in which a run makes them.
    code:      custom Python by name; see CodeItem.
    watches:   expressions that are shown wherever the debugger stops; see debug.breaks.expression.
    init:      operation to run once before the first run (imported graphs); "" for none.
    fetches, targets: what a run computes besides the gradients and updates.
    threads:   what runs beside that, again and again: what fills queues.
    title, note: words for people; the note says what to look at.
    claim, truth: where a popular claim is wrong, both, to be shown side by side.
    group:     heading under which the start page lists it, if it is an example.
    expectations: what its runs give; checked when asked, never needed to run it.
    functions: of an imported graph, TensorFlow's library of them (a FunctionDefLibrary,
               serialised): for operations that Gradstep does not run, and kept with these.
    recorded:  what another framework computed of this graph, and where its lines are from.
    branches:  of its runs, that are there again when it is opened: the first one, and those that
               come from it, each behind the one that it leaves; nothing of one alone.
    """

    graph: Graph = field(default_factory=Graph)
    request: GradientRequest = GradientRequest()
    imported: tuple[ImportedGradients, ...] = ()
    initial: Mapping[str, Constant] = field(default_factory=_frozen_map)
    feeds: Mapping[str, Constant] = field(default_factory=_frozen_map)
    data: Dataset | None = None
    packed: Mapping[str, Constant] = field(default_factory=_frozen_map)
    optimizers: tuple[Optimizer, ...] = ()
    code: Mapping[str, CodeItem] = field(default_factory=_frozen_map)
    breakpoints: tuple[Breakpoint, ...] = ()
    watches: tuple[str, ...] = ()
    init: str = ""
    fetches: tuple[TensorRef, ...] = ()
    targets: tuple[str, ...] = ()
    threads: tuple[Thread, ...] = ()
    title: str = ""
    note: str = ""
    claim: str = ""
    truth: str = ""
    group: str = ""
    expectations: tuple[Expectation, ...] = ()
    functions: bytes = b""
    recorded: RecordedRun | None = None
    branches: tuple[KeptBranch, ...] = ()
    view: View = View()

    def with_(self, **changes: Any) -> Document:
        return replace(self, **changes)

    @property
    def columns(self) -> Mapping[str, str]:
        """Tensor name -> the rows that it is fed from, of those that data feeds."""
        return {} if self.data is None else self.data.columns

    @property
    def has_note(self) -> bool:
        """Whether there is something for people to read beside the graph."""
        return bool(self.note or self.claim or self.truth or self.expectations)

    @property
    def code_hash(self) -> str:
        """SHA-256 (hex) of all custom Python; "" without any. Trust is about more than that: see
        gradstep.core.program.trust.code_fingerprint."""
        if not self.code:
            return ""
        digest = hashlib.sha256()
        for name in sorted(self.code):
            item = self.code[name]
            for part in (item.name, item.kind.value, item.source):
                digest.update(str(len(part)).encode() + b":" + part.encode())
        return digest.hexdigest()
