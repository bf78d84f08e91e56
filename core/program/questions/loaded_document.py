"""A document together with its Python, which may run or not, and a session started on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradstep.core.data.opened_data import OpenedData
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.feed_values import given_feeds
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.program.data_feeds import open_batches, own_feeds
from gradstep.core.program.function_kinds import in_role
from gradstep.core.program.sandbox import is_confined
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.program.user_code import Function, functions_of


@dataclass(frozen=True, eq=False)
class Loaded:
    """A document, and its Python by name; what may not run raises when called."""

    document: Document
    functions: Mapping[str, Function]

    def of_kind(self, kind: CodeKind) -> dict[str, Function]:
        """The functions that serve as one kind, by name."""
        return in_role(self.document.code, self.functions, kind)

    def feeds(self, run: int = 0) -> dict[TensorRef, np.ndarray]:
        """What a run is fed, as the graph takes it. Raises GradstepError."""
        values = {name: value.array for name, value in own_feeds(self.document).items()}
        batch = {} if self.batches is None else self.batches.feeds_at(run)
        return {**given_feeds(self.document.graph, values), **batch}

    @cached_property
    def batches(self) -> OpenedData | None:
        """What the document's data feeds, run by run; None for none. Raises GradstepError."""
        return open_batches(self.document, self.document.graph)

    def initial(self) -> dict[str, np.ndarray]:
        """The variables' initial values by name."""
        return {name: value.array for name, value in self.document.initial.items()}


def with_functions(
    document: Document, given: Mapping[str, CodeItem], may: Permission, hint: str
) -> Loaded:
    """The document with `given` code, which may run, and its own, if that may. hint: what to do
    where it may not. Raises GradstepError for code that cannot be compiled."""
    own = {name: item for name, item in document.code.items() if name not in given}
    trusted = not own or may is Permission.FULL or (may.runs and is_confined())
    functions, errors = functions_of([*given.values(), *(own.values() if trusted else ())], True)
    if errors:
        raise errors[0]
    if not trusted:
        functions |= {name: _refusal(own, may, hint) for name in own}
    return Loaded(document.with_(code={**own, **given}), functions)


def _refusal(code: Iterable[str], may: Permission, hint: str) -> Function:
    """What stands for functions that have not been trusted: it only raises."""
    names = ", ".join(sorted(code))
    why = "is trusted without network and files only" if may.runs else "is not trusted"

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise GradstepError(
            f"the document's Python ({names}) {why}, so it does not run",
            kind="UntrustedCodeError",
            hint=hint,
        )

    return refuse


def start(
    loaded: Loaded, graph: Graph, backend: Backend, initial: Mapping[str, Any], **layout: Any
) -> Session:
    """A session on `graph` whose variables are initialised: by `init`, then by `initial`. layout:
    as Session takes it; by default recorded."""
    functions = loaded.of_kind(CodeKind.PYFUNC)
    session = Session(graph, backend, functions, initial, **layout)
    if loaded.document.init:
        there = {ref: value for ref, value in loaded.feeds().items() if ref.op in graph}
        session.run([], there, [loaded.document.init])
        given = Session(graph, backend, functions, initial).store
        for name, array in given.items():
            session.store.set(name, array)
    return session
