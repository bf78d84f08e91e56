"""The VJP of one operation as an imported graph has it, cut out of that graph to be run alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef

_GIVEN = ("Placeholder", "Variable", "VarHandleOp")


@dataclass(frozen=True)
class ImportedVjp:
    """name: of its scope; operations: in order, reading what stands in for the operation's inputs
    and arriving gradients; gradients: input of the operation -> what they make for it."""

    name: str
    operations: tuple[Operation, ...]
    gradients: Mapping[int, TensorRef]


def find_imported_vjp(
    derived: Differentiation,
    op: Operation,
    inputs: Sequence[TensorRef],
    arriving: Mapping[int, TensorRef],
) -> ImportedVjp | None:
    """The VJP of `op` in an imported graph's gradients. inputs: what stands in for its inputs;
    arriving: output -> what stands in for its gradient. None where the VJP asks for more."""
    stands_in = {ref: hole for ref, hole in zip(op.inputs, inputs, strict=True) if ref is not None}
    for index, hole in arriving.items():
        stands_in[derived.gradients[op.output(index)]] = hole
    edges = {i: derived.edges.get(Edge(op.name, i)) for i in range(len(op.inputs))}
    made = {i: held for i, held in edges.items() if held is not None}
    needed = {*_needed(derived.graph, op.name, made, stands_in)}
    operations = [_cut(each, needed, stands_in) for each in derived.graph if each.name in needed]
    if any(each.type.startswith(_GIVEN) for each in operations):
        return None
    gradients = {i: stands_in.get(held, held) for i, held in made.items()}
    name = f"{derived.imported}/{op.name}_grad"
    return ImportedVjp(name, tuple(operations), gradients)


def _needed(
    graph: Graph, own: str, made: Mapping[int, TensorRef], stands_in: Mapping[TensorRef, TensorRef]
) -> Iterator[str]:
    """What makes the gradients, back to the operation itself and what stands in for others."""
    seen = {own}
    stack = [ref.op for ref in made.values() if ref not in stands_in]
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        yield name
        op = graph[name]
        stack += [ref.op for ref in op.inputs if ref is not None and ref not in stands_in]


def _cut(op: Operation, kept: set[str], stands_in: Mapping[TensorRef, TensorRef]) -> Operation:
    """`op`, reading stand-ins, and waiting for nothing outside."""
    inputs = tuple(ref and stands_in.get(ref, ref) for ref in op.inputs)
    waits = tuple(name for name in op.control_inputs if name in kept)
    return replace(op, inputs=inputs, control_inputs=waits)
