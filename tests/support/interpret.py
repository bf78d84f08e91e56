"""The simplest possible way to run a graph: op after op, in order, over the kernels.

It knows variables (a ref is its variable's buffer, a resource read a copy), and nothing of plans,
feeds in the middle, or recording. Tests hold the engine and the op table against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.declare.table import OpDef, lookup


class _Buffer:
    """A value that is whatever the variable `name` holds when it is looked at."""

    def __init__(self, name: str) -> None:
        self.name = name


class Interpreter:
    """Runs of one graph that share its variables."""

    def __init__(self, graph: Graph, variables: Mapping[str, Any] | None = None, xp: Any = np):
        self.graph = graph
        self.variables: dict[str, Any] = dict(variables or {})
        self.xp = xp
        self.given: dict[str, Any] = {}
        self.counters: dict[str, Any] = {}

    def run(
        self,
        fetches: Sequence[TensorRef | str],
        feeds: Mapping[TensorRef | str, Any] | None = None,
        targets: Sequence[str] = (),
        **given: Any,
    ) -> list[np.ndarray]:
        """Values of `fetches`. `given`: `rules` and `functions` for the kernels that want them."""
        self.given = given
        refs = [_ref(f) for f in fetches]
        values = self.values(refs, feeds, targets)
        return [np.asarray(self.look(values[ref])) for ref in refs]

    def values(
        self,
        fetches: Sequence[TensorRef],
        feeds: Mapping[TensorRef | str, Any] | None = None,
        targets: Sequence[str] = (),
    ) -> dict[TensorRef, Any]:
        """What is fed, and the values of all that had to run."""
        values: dict[TensorRef, Any] = {_ref(k): np.asarray(v) for k, v in (feeds or {}).items()}
        for op in self.steps(fetches, values, targets):
            self.step(op, values)
        return values

    def steps(
        self,
        fetches: Sequence[TensorRef],
        feeds: Mapping[TensorRef | str, Any],
        targets: Sequence[str] = (),
    ) -> list[Operation]:
        """The operations that have to run, in order."""
        fed = {_ref(k) for k in feeds}
        wanted = self.graph.ancestors([*(r.op for r in fetches), *targets])
        names = (n for n in self.graph.order if n in wanted and TensorRef(n) not in fed)
        return [self.graph[name] for name in names]

    def step(self, op: Operation, values: dict[TensorRef, Any]) -> None:
        """One operation, on `values` and into them."""
        definition = lookup(op.type, op.name)
        if op.type in ("VariableV2", "VarHandleOp"):
            values[op.output()] = _Buffer(op.name)
            return
        if definition.kernel.plain is None:
            raise GradstepError(f"You must feed a value for '{op.name}'", node=op.name)
        sources = [values[ref] for ref in op.inputs if ref is not None]
        inputs = [self.look(value) for value in sources]
        results = self._results(definition, op, inputs)
        own = len(results) - len(definition.state.writes)
        for index, result in zip(definition.state.writes, results[own:], strict=True):
            self.variables[sources[index].name] = np.array(result)
        results = results[:own]
        if definition.aliases and isinstance(sources[0], _Buffer):
            results = (sources[0],)
        for index, result in enumerate(results):
            values[op.output(index)] = result

    def _results(self, definition: OpDef, op: Operation, inputs: list[Any]) -> tuple[Any, ...]:
        if not definition.state.counter:
            return call_kernel(definition, op, inputs, xp=self.xp, **self.given)
        count = self.counters.get(op.name, definition.state.first_count(op))
        *results, self.counters[op.name] = call_kernel(
            definition, op, [*inputs, count], xp=self.xp, **self.given
        )
        return tuple(results)

    def look(self, value: Any) -> Any:
        return self.variables.get(value.name) if isinstance(value, _Buffer) else value


def call_kernel(
    definition: OpDef, op: Operation, inputs: Sequence[Any], xp: Any = np, **given: Any
) -> tuple[Any, ...]:
    """All results of the kernel, with the keywords it asks for."""
    assert definition.kernel.plain is not None
    result = definition.kernel.plain(xp, *inputs, **keywords(definition, op, **given))
    return result if isinstance(result, tuple) else (result,)


def keywords(definition: OpDef, op: Operation, **given: Any) -> dict[str, Any]:
    return definition.keywords(op, {"op": op, **given})


def evaluate(
    graph: Graph,
    fetches: Sequence[TensorRef | str],
    feeds: Mapping[TensorRef | str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
    **given: Any,
) -> list[np.ndarray]:
    """One run of `graph`, warnings of NumPy's silenced as an engine does."""
    with np.errstate(all="ignore"):
        return Interpreter(graph, variables).run(fetches, feeds, **given)


def _ref(name: TensorRef | str) -> TensorRef:
    return TensorRef.parse(name) if isinstance(name, str) else name
