"""Runs of one document on one set of variables.

What was compiled for a question is kept for the next of its kind.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.requested_gradients import derive_requested
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import CodeKind
from gradstep.core.document.placeholder_substitution import with_feeds
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.feed_values import given_feeds
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.graph.model import Graph
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded, start

_KEPT = 8  # of each: feeds of other types, gradients of other things
_T = TypeVar("_T")


class DocumentRuns:
    """loaded: the document, with its own feeds. Its variables get their first values when the first
    run needs them, and keep those that they have after a run, whatever it was asked for."""

    def __init__(self, loaded: Loaded, backend: Backend) -> None:
        self.loaded, self.backend = loaded, backend
        self._store: VariableStore | None = None
        self._graphs: OrderedDict[Hashable, Graph] = OrderedDict()
        self._programs: OrderedDict[Hashable, Program] = OrderedDict()
        self._derived: OrderedDict[Hashable, Differentiation] = OrderedDict()
        self._sessions: OrderedDict[Hashable, Session] = OrderedDict()

    def edited(self, loaded: Loaded) -> DocumentRuns:
        """Those of an edited document, on the variables as they are now."""
        runs = DocumentRuns(loaded, self.backend)
        runs._store = self._store
        return runs

    @property
    def store(self) -> VariableStore:
        """The variables as they are now. Raises GradstepError where the document cannot initialise
        them."""
        if self._store is None:
            graph, initial = self.loaded.document.graph, self.loaded.initial()
            self._store = start(self.loaded, graph, self.backend, initial).store
        return self._store

    @property
    def begun(self) -> bool:
        """Whether the variables have got their first values."""
        return self._store is not None

    def reset(self) -> None:
        """Give all variables their first values again."""
        self._store = None

    def fed(self, feeds: Mapping[str, Any] | None) -> Loaded:
        """The document with `feeds` (None for none) over its own; for feeds of the same types its
        graph is the very same. Raises GradstepError for what does not fit."""
        given = {} if feeds is None else feeds
        arrays = given_feeds(self.loaded.document.graph, given)
        if not arrays:
            return self.loaded
        document = with_feeds(self.loaded.document, arrays)
        graph = _kept(self._graphs, _types(document.feeds), lambda: document.graph)
        return Loaded(document.with_(graph=graph), self.loaded.functions)

    def feed(self, feeds: Mapping[str, Any]) -> None:
        """Let the document itself feed these over what it feeds already. Raises GradstepError for
        what does not fit."""
        self.loaded = self.fed(feeds)  # what was compiled goes by the types of feeds

    def program(self, loaded: Loaded) -> Program:
        """What a document that is fed so runs; its feeds have the right types, and other values."""
        document = loaded.document
        columns = () if document.data is None else document.data.columns
        key = document.request, _types(document.feeds), frozenset(columns)
        return _kept(self._programs, key, lambda: derive(document, loaded.functions))

    def derived(self, loaded: Loaded, request: GradientRequest) -> Differentiation:
        """The gradients of a request of the document, as operations. Raises GradstepError."""
        key = request, _types(loaded.document.feeds)
        return _kept(self._derived, key, lambda: derive_requested(loaded, request))

    def session(self, graph: Graph, initial: Mapping[str, np.ndarray]) -> Session:
        """A session on `graph`, which is made of the document, and on the variables as they are;
        initial: first values of those that have none. Raises GradstepError."""
        session = _kept(self._sessions, id(graph), lambda: self._begin(graph, initial))
        if session.store is not self.store:  # it was reset
            session = self._sessions[id(graph)] = self._begin(graph, initial)
        return session

    def _begin(self, graph: Graph, initial: Mapping[str, np.ndarray]) -> Session:
        functions = self.loaded.of_kind(CodeKind.PYFUNC)
        session = Session(graph, self.backend, functions, initial)
        self.store.complete(session.store)
        session.store = self.store
        return session


def _types(feeds: Mapping[str, Any]) -> frozenset[Hashable]:
    return frozenset((name, value.array.dtype, value.array.shape) for name, value in feeds.items())


def _kept(cache: OrderedDict[Hashable, _T], key: Hashable, make: Callable[[], _T]) -> _T:
    """What the cache has for `key`, made now if there is nothing."""
    if key not in cache:
        cache[key] = make()
    cache.move_to_end(key)
    while len(cache) > _KEPT:
        cache.popitem(last=False)
    return cache[key]
