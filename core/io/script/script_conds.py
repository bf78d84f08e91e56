"""Conds inside loops, in a script for TensorFlow: which branch an operation is in.

TensorFlow's gradients ask for the context that an operation was made in. `tf.cond` enters it;
`tf.raw_ops` do not, so that in a loop a Switch of a cond would pass for one of the loop's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from gradstep.core.autodiff.loops.cond_liveness import Life, Side, find_liveness, intersect_lives
from gradstep.core.graph.loop import Loop, loop_of, within
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.declare.table import branch_of

HELPER = '''
from contextlib import ExitStack, contextmanager

from tensorflow.python.ops.control_flow_ops import CondContext

branches = {}


@contextmanager
def branch(*sides):
    """What is made in here is in a branch of a cond: each side a predicate, and 1 where it is true.
    """
    with ExitStack() as stack:
        for count, (predicate, side) in enumerate(sides, 1):
            if sides[:count] not in branches:
                value = tensor(predicate)
                switch = tf.raw_ops.Switch(data=value, pred=value, name='branch/Switch')
                pivot = tf.identity(switch[side], name='branch/pivot')
                branches[sides[:count]] = CondContext(value, pivot, side)
            context = branches[sides[:count]]
            context.Enter()
            stack.callback(context.Exit)
        yield context


def leads_into(name, side, *sides):
    """Output `side` of the Switch `name` is in that branch."""
    output = operation(name).outputs[side]
    with branch(*sides) as context:
        context._values.add(output.name)
        output.op._set_control_flow_context(context)


def leads_out(names):
    """Those outputs of a loop, which is in a branch, can be read where the branch ends."""
    context = graph._get_control_flow_context()
    while context is not None:
        for name in names:
            context.AddName(tensor(name).name)
        context = context.outer_context
'''


def has_branches_in_loops(graph: Graph) -> bool:
    """Whether a script of `graph` needs HELPER."""
    loops = filter(None, map(loop_of, within(graph)))
    return any(_is_of_cond(op, loop) for loop in loops for op in loop.graph)


def _is_of_cond(op: Operation, loop: Loop) -> bool:
    return branch_of(op.type) == "switch" and op.inputs[1:2] != (loop.cond,)


class Branches:
    """Those in the iterations of `loop`."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._graph = loop.graph

    def placed(self, op: Operation, statement: str) -> str:
        """The statement for `op` of the loop, in its branch."""
        sides = self._sides(self._life(op.name))
        if sides:
            statement = f"with branch({sides}):\n    " + statement.replace("\n", "\n    ")
        inner = loop_of(op)
        if sides and inner is not None:
            outputs = [op.output(index).short for index in range(len(inner.variables))]
            return f"{statement}\nleads_out({outputs!r})"
        if not _is_of_cond(op, self._loop):
            return statement
        return "\n".join([statement, *self._leading(op)])

    def _leading(self, op: Operation) -> Iterator[str]:
        """Which branches a Switch leads into."""
        read = {self._graph.source(edge) for edge in self._graph.consumers[op.name]}
        for index, life in enumerate(self._lives[op.name]):
            if op.output(index) in read:
                yield f"leads_into({op.name!r}, {index}, {self._sides(life)})"

    @cached_property
    def _lives(self) -> Mapping[str, tuple[Life, ...]]:
        return find_liveness(self._graph)

    def _life(self, name: str) -> Life:
        return intersect_lives(self._lives[name]) if name in self._lives else Life()

    def _sides(self, life: Life) -> str:
        """Of the conds, the outermost first, in Python."""

        def depth(side: Side) -> tuple[int, str]:
            return len(self._life(side[0].op)), str(side)

        inside = sorted((side for side in life if side[0] != self._loop.cond), key=depth)
        return ", ".join(f"({ref.short!r}, {index})" for ref, index in inside)
