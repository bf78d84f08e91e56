"""The user's document: a forward graph and all that was asked of it; everything else is derived."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from core.autodiff.request import GradientRequest
from core.debug.breakpoints import Breakpoint
from core.graph.model import Constant, Graph, TensorRef


class CodeKind(StrEnum):
    """What a piece of the document's Python is for."""

    GRADIENT = "gradient"  # f(op, *grads) that builds operations
    NUMPY_GRADIENT = "numpy_gradient"  # f(*grads, *inputs) that computes NumPy arrays
    PYFUNC = "pyfunc"  # f(*arrays) that computes NumPy arrays


@dataclass(frozen=True, slots=True)
class CodeItem:
    """One function, as source text; the last function defined at the top level is the one meant."""

    name: str
    kind: CodeKind
    source: str


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An update rule for every tensor of `request.wrt`: `type` is one of core.train's ("Adam",
    "GradientDescent"…); `hyper` its hyper-parameters by TensorFlow's argument names
    (learning_rate, beta1…)."""

    type: str
    hyper: Mapping[str, float]


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
    initial:   variable name -> initial value.
    feeds:     tensor name ("data:0") -> value fed to every run.
    optimizer: updates to derive, or None.
    code:      custom Python by name; see CodeItem.
    init:      operation to run once before the first run (imported graphs); "" for none.
    fetches, targets: what a run computes besides the gradients and updates.
    title, note: words for people; the note says what to look at.
    """

    graph: Graph = field(default_factory=Graph)
    request: GradientRequest = GradientRequest()
    initial: Mapping[str, Constant] = field(default_factory=_frozen_map)
    feeds: Mapping[str, Constant] = field(default_factory=_frozen_map)
    optimizer: Optimizer | None = None
    code: Mapping[str, CodeItem] = field(default_factory=_frozen_map)
    breakpoints: tuple[Breakpoint, ...] = ()
    init: str = ""
    fetches: tuple[TensorRef, ...] = ()
    targets: tuple[str, ...] = ()
    title: str = ""
    note: str = ""
    view: View = View()

    def with_(self, **changes: Any) -> Document:
        return replace(self, **changes)

    @property
    def code_hash(self) -> str:
        """SHA-256 (hex) of all custom Python; "" without any. Trust is remembered by it."""
        if not self.code:
            return ""
        digest = hashlib.sha256()
        for name in sorted(self.code):
            item = self.code[name]
            for part in (item.name, item.kind.value, item.source):
                digest.update(str(len(part)).encode() + b":" + part.encode())
        return digest.hexdigest()
