"""A loop: the graph of one iteration, and how its values go in, round and out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import unknown_name
from gradstep.core.graph.topological_order import predecessors

if TYPE_CHECKING:
    from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef

LOOP = "loop"  # the attribute of an operation that runs one
# Of an operation at the border of a loop, read from a GraphDef: the names of the operations on the
# other side that its node waits for. Here, the loop as a whole comes before or after them.
ACROSS = "_control_across"


@dataclass(frozen=True, eq=False)
class Loop:
    """What a `While` runs again and again; compared by identity, as graphs are.

    graph:     operations of one iteration, nested loops inside them. Their names are full and
               unique in the whole document: none is in the graph around.
    variables: the `_Arg` operation of each loop variable, called as TensorFlow's Merge is
               ("while/Merge_1"). It has the variable's value at the start of the iteration.
    captures:  the `_Arg` operation of each tensor that is read from outside and stays the same
               in all iterations, called as TensorFlow's Enter is ("while/mul/Enter").
    cond:      whether this iteration takes place (a `LoopCond`). Only what it needs runs before
               it; the rest runs if it is true.
    results:   the value of each loop variable in the next iteration (mostly `NextIteration`s).
    """

    graph: Graph
    variables: tuple[str, ...]
    captures: tuple[str, ...]
    cond: TensorRef
    results: tuple[TensorRef, ...]

    def __str__(self) -> str:
        return f"{len(self.graph)} operations"

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """What the inputs of the While become, in their order."""
        return self.variables + self.captures

    @cached_property
    def framework(self) -> frozenset[str]:
        """The operations of an iteration that hold the loop together: none may be taken out."""
        ends = (self.cond, *self.results)
        return frozenset(self.variables) | {ref.op for ref in ends}


def loop_of(op: Operation) -> Loop | None:
    """The loop that `op` runs, if it runs one."""
    loop = op.attrs.get(LOOP)
    return loop if isinstance(loop, Loop) else None


def require_sound(op: Operation) -> None:
    """Raise GradstepError where what the loop of `op` says of its graph is not so, or `op` does not
    give it as many inputs as it takes. Operations without one are."""
    loop = loop_of(op)
    wrong = None if loop is None else next(_unsound(loop, len(op.inputs)), None)
    if wrong:
        hint = "the file is damaged, or no loop of TensorFlow's"
        raise GradstepError(wrong, kind="FileError", node=op.name, hint=hint)


def _unsound(loop: Loop, inputs: int) -> Iterator[str]:
    graph, arguments = loop.graph, loop.arguments
    for name in arguments:
        if name not in graph or graph[name].type != "_Arg":
            yield f"a loop's argument '{name}' is no _Arg among its operations"
    if len({*arguments}) < len(arguments):
        yield "two arguments of a loop are one operation"
    if len(loop.results) != len(loop.variables):
        yield f"a loop has {len(loop.variables)} variables, but {len(loop.results)} results"
    if inputs != len(arguments):
        yield f"a loop has {len(arguments)} arguments, but is given {inputs}"
    ends = (ref for ref in (loop.cond, *loop.results) if ref.op not in graph)
    yield from (f"a loop refers to '{ref}', which is not among its operations" for ref in ends)
    for op in graph:
        outside = (n for n in predecessors(op) if n not in graph)
        yield from (
            f"'{op.name}' in a loop takes '{n}', which is not in that loop" for n in outside
        )


def within(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations, each followed by those of the loop that it runs, nested ones included."""
    for op in operations:
        yield op
        loop = loop_of(op)
        if loop is not None:
            yield from within(loop.graph)


def with_a_device(graph: Graph) -> Iterator[Operation]:
    """Those of `graph`, and then of its loops, nested ones included, that wish for a device."""
    if graph.wishes:
        yield from (op for op in graph if op.name in graph.wishes)
    for name in sorted(graph.marked[LOOP]):
        if (loop := loop_of(graph[name])) is not None:
            yield from with_a_device(loop.graph)


def way_to(graph: Graph, name: str) -> tuple[Operation, ...] | None:
    """The Whiles around operation `name`, the outermost first: none where it is in `graph`
    itself. None where there is no such operation."""
    if name in graph:
        return ()
    loops = graph.marked[LOOP]
    for around in filter(loops.__contains__, graph.operations) if loops else ():
        loop = loop_of(op := graph[around])
        if loop is not None and (rest := way_to(loop.graph, name)) is not None:
            return (op, *rest)
    return None


def anywhere(graph: Graph, name: str) -> Operation:
    """The operation `name`, inside a loop perhaps. Raises GradstepError when there is none."""
    return graph_around(graph, name)[name]


def require_loop(graph: Graph, name: str) -> Operation:
    """The operation `name`, inside a loop perhaps, which runs a loop. Raises GradstepError where
    there is none."""
    loops = [op.name for op in within(graph) if loop_of(op) is not None]
    if name not in loops:
        raise unknown_name(name, loops)
    return anywhere(graph, name)


def loops_around(graph: Graph, name: str) -> tuple[str, ...]:
    """The names of the Whiles around operation `name`, the outermost first."""
    return tuple(op.name for op in way_to(graph, name) or ())


def graph_around(graph: Graph, name: str) -> Graph:
    """The graph that operation `name` is in: this one, or a loop's. Raises GradstepError when there
    is no such operation."""
    way = way_to(graph, name)
    if way is None:
        raise unknown_name(name, [op.name for op in within(graph)])
    inner: Graph = way[-1].attrs[LOOP].graph if way else graph
    return inner


def inside(graph: Graph, name: str, change: Callable[[Graph], Graph]) -> Graph:
    """`graph`, with `change` made to the graph that operation `name` is in: itself, or a loop's.
    Raises GradstepError when there is no such operation."""
    around = way_to(graph, name)
    if not around:
        return change(graph_around(graph, name))
    outer = around[0]
    loop = outer.attrs[LOOP]
    again = replace(loop, graph=inside(loop.graph, name, change))
    changed = outer.with_attrs(**{LOOP: again})
    return replace(graph, operations={**graph.operations, outer.name: changed})


def tensor_carried(graph: Graph, edge: Edge) -> TensorRef | None:
    """What a wire carries, inside a loop perhaps; None when the input is not wired, or there is
    none. Raises GradstepError when there is no such operation."""
    inputs = anywhere(graph, edge.op).inputs
    return inputs[edge.index] if edge.index < len(inputs) else None


def everywhere(graph: Graph, change: Callable[[Graph], Graph]) -> Graph:
    """What `change` makes of `graph`, done to the graphs of the loops in it first."""
    made: dict[str, Operation] = {}
    for op in graph:
        loop = loop_of(op)
        if loop is not None and (inner := everywhere(loop.graph, change)) is not loop.graph:
            op = op.with_attrs(**{LOOP: replace(loop, graph=inner)})
        made[op.name] = op
    same = all(map(operator.is_, made.values(), graph))
    return change(graph if same else replace(graph, operations=made))


def crossing_error(inner: str, reader: str, both_in_loops: bool) -> GradstepError:
    """TensorFlow's error for `reader` taking what operation `inner` makes in a loop that `reader`
    is not in."""
    why = "they are in different while loops" if both_in_loops else f"'{inner}' is in a while loop"
    return GradstepError(
        f"Cannot use '{inner}' as input to '{reader}' because {why}. "
        "See info log for more details.",
        kind="ValueError",
        node=reader,
        hint="return it from the loop's body as a loop variable, and use that",
    )


def out_of_reach(graph: Graph, name: str) -> GradstepError | None:
    """TensorFlow's error for the use of operation `name` from outside the loop that it is in; None
    where it is in none."""
    around = way_to(graph, name)
    if not around:
        return None
    return GradstepError(
        f"Operation {name} has been marked as not fetchable. Typically this happens when it is "
        "defined in another function or code block. Use return values, explicit Python locals or "
        "TensorFlow collections to access it.",
        kind="InaccessibleTensorError",
        node=name,
        hint=f"it is in the loop '{around[-1].name}': return it from the body as a loop variable",
    )
