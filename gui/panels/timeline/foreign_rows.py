"""What of a traced graph is one row of the timeline: all that a foreign operation became."""

from __future__ import annotations

from functools import cached_property

from gradstep.core.graph.foreign_origin import FOREIGN_OP, FOREIGN_SCOPE, foreign_scope
from gradstep.core.graph.model import Graph


class ForeignRows:
    """Of one graph; nothing in it is foreign where nothing was traced."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def key(self, name: str) -> str:
        """The same for all operations of one row: a scope with a slash, or the name itself."""
        scope = foreign_scope(self._graph, name)
        return f"{scope}/" if scope else name

    def label(self, key: str) -> str:
        """As the row names it: "conv1/conv2d (aten.conv2d)"; "" for what was never foreign."""
        result = self.result(key)
        if not result:
            return ""
        op = str(self._graph[result].attrs.get(FOREIGN_OP, ""))
        return f"{key.removesuffix('/')} ({op.removesuffix('.default')})"

    def result(self, key: str) -> str:
        """The operation that gives what the foreign one does."""
        return self._results.get(key.removesuffix("/"), "") if key.endswith("/") else ""

    @cached_property
    def _results(self) -> dict[str, str]:
        """Of each scope the last operation that others read; the last, where nobody does."""
        found: dict[str, str] = {}
        read: dict[str, str] = {}
        for op in self._graph:
            scope = op.attrs.get(FOREIGN_SCOPE)
            if isinstance(scope, str):
                found[scope] = op.name
            for ref in op.inputs:
                source = None if ref is None else self._graph.operations.get(ref.op)
                theirs = None if source is None else source.attrs.get(FOREIGN_SCOPE)
                if source is None or not isinstance(theirs, str) or theirs == scope:
                    continue
                if not op.name.endswith("/update"):  # what moves a buffer along
                    read.setdefault(theirs, source.name)
        return {**found, **read}
