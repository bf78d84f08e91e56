"""Which tensors of a loop lead to which, in one iteration or in several.

Through tensors that may have gradients, whether or not they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradstep.core.graph.loop import Loop, loop_of
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.typing.inference import infer_declared


def find_arguments_before(loop: Loop, variables: Iterable[str]) -> set[str]:
    """Those arguments of `loop` that lead to the final values of these of its variables."""
    results = dict(zip(loop.variables, loop.results, strict=True))
    types = infer_declared(loop.graph).types
    found: set[str] = set()
    waiting = [*variables]
    while waiting:
        name = waiting.pop()
        if name not in found and types[TensorRef(name)].dtype.is_differentiable:
            found.add(name)
            if name in results:
                waiting.extend(_arguments_of(loop, results[name]))
    return found


def _arguments_of(loop: Loop, result: TensorRef) -> set[str]:
    """Those that lead to `result` in one iteration."""
    types, seen, found = infer_declared(loop.graph).types, set[TensorRef](), set[str]()
    stack: list[TensorRef] = [result]
    while stack:
        ref = stack.pop()
        if ref in seen or not types[ref].dtype.is_differentiable:
            continue
        seen.add(ref)
        if ref.op in loop.arguments:
            found.add(ref.op)
        stack.extend(list_sources(loop.graph, ref))
    return found


def list_sources(graph: Graph, ref: TensorRef) -> Iterator[TensorRef]:
    """The tensors that `ref` is made from: of a loop only those that lead to that output of it."""
    op = graph[ref.op]
    loop = loop_of(op)
    if loop is None:
        yield from (source for source in op.inputs if source is not None)
        return
    before = find_arguments_before(loop, loop.variables[ref.index : ref.index + 1])
    for name, source in zip(loop.arguments, op.inputs, strict=True):
        if name in before and source is not None:
            yield source
