"""What of a traced graph is one row of the timeline: all that a foreign operation became."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from gradstep.core.graph.foreign_origin import FOREIGN_OP, foreign_results, foreign_scopes
from gradstep.core.graph.model import Graph


class ForeignRows:
    """Of one graph; nothing in it is foreign where nothing was traced. scopes: operation -> the one
    with all that is of its row; see foreign_scopes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scopes = foreign_scopes(graph)

    def key(self, name: str) -> str:
        """The same for all operations of one row: a scope with a slash, or the name itself."""
        scope = self.scopes.get(name)
        return f"{scope}/" if scope else name

    def keys(self, names: Iterable[str]) -> Iterable[str]:
        """Of many, in their order."""
        return map(self.key, names) if self.scopes else names

    def label(self, key: str) -> str:
        """As the row names it: "conv1/conv2d (aten.conv2d)"; "" for what was never foreign."""
        result = self.result(key)
        if not result:
            return ""
        op = str(self.graph[result].attrs.get(FOREIGN_OP, ""))
        return f"{key.removesuffix('/')} ({op.removesuffix('.default')})"

    def result(self, key: str) -> str:
        """The operation that gives what the foreign one does."""
        return self._results.get(key.removesuffix("/"), "") if key.endswith("/") else ""

    @cached_property
    def _results(self) -> dict[str, str]:
        return {**foreign_results(self.graph)}
