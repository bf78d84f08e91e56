"""Liveness of tensors in conds: the branches in which each of them is computed."""

from __future__ import annotations

from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.declare.table import branch_of
from gradstep.core.ops.typing.inference import infer_declared

Side = tuple[TensorRef, int]  # a predicate, and at which output of its Switch something is alive
Life = frozenset[Side]  # all of them at once; none: always


def find_liveness(graph: Graph) -> dict[str, tuple[Life, ...]]:
    """For each output of each operation (for one that has none as if it had), the sides of conds
    that it is alive with. Empty where there is no Switch."""
    found: dict[str, tuple[Life, ...]] = {}
    if not any(branch_of(op.type) == "switch" for op in graph):
        return found
    types = infer_declared(graph).types.of
    for name in graph.order:
        op = graph[name]
        needs = [_life(found, ref) for ref in op.inputs if ref is not None]
        branch = branch_of(op.type)
        if branch == "merge":
            common = frozenset.intersection(*needs) if needs else frozenset()
            found[name] = common, common
            continue
        whole = Life().union(
            *needs,
            *(intersect_lives(found[other]) for other in op.control_inputs if other in found),
        )
        asked = op.inputs[1] if branch == "switch" and len(op.inputs) > 1 else None
        if asked is not None:
            predicate = _same(graph, asked)
            found[name] = whole | {(predicate, 0)}, whole | {(predicate, 1)}
        else:
            found[name] = (whole,) * max(len(types.get(name, ())), 1)
    return found


def _life(found: dict[str, tuple[Life, ...]], ref: TensorRef) -> Life:
    """Of a tensor; of one that nothing makes, as if it were always alive."""
    outputs = found.get(ref.op, ())
    return outputs[ref.index] if ref.index < len(outputs) else Life()


def intersect_lives(outputs: tuple[Life, ...]) -> Life:
    """The sides that an operation runs with, of the lives of its outputs."""
    return frozenset.intersection(*outputs) if outputs else Life()


def _same(graph: Graph, ref: TensorRef) -> TensorRef:
    """The tensor that Identities pass on as `ref`."""
    while (op := graph.operations.get(ref.op)) is not None and op.type == "Identity":
        if not op.inputs or op.inputs[0] is None:
            break
        ref = op.inputs[0]
    return ref
