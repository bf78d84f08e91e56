"""Loops in a script for TensorFlow: `tf.while_loop` with a function for the condition and the body.

TensorFlow makes Enter, Merge, Switch, NextIteration and Exit by itself. What stands for one of them
here is looked up by name in `known`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from gradstep.core.graph.dtypes import UNKNOWN, Shape
from gradstep.core.graph.loop import ACROSS, Loop, loop_of, within
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.script.script_conds import Branches
from gradstep.core.ops.declare.attribute_kinds import attribute, hinted_items

Statement = Callable[[Operation], str]
_PASSED_ON = frozenset({"Enter", "RefEnter", "Exit", "NextIteration", "LoopCond"})


def statements(graph: Graph, statement: Statement) -> Iterator[str]:
    """The operations of `graph` in order, loops as functions; of others, what `statement` makes."""
    for name in graph.order:
        op = graph[name]
        loop = loop_of(op)
        if loop is not None:
            yield _loop(op, loop, statement)
        elif op.type in _PASSED_ON:
            yield _named(op, statement)
        else:
            yield statement(replace(op, control_inputs=(*op.control_inputs, *_across(op, graph))))


def reserve_names(graph: Graph) -> Iterator[str]:
    """What keeps TensorFlow from calling its own operations of a loop as others in there are called
    that are made later."""
    loops = filter(None, map(loop_of, within(graph)))
    names = [op.name for loop in loops for op in loop.graph if not _is_tensorflows(op, loop)]
    if names:
        yield f"for name in {names!r}:\n    graph.unique_name(name)"


def _is_tensorflows(op: Operation, loop: Loop) -> bool:
    """Whether `tf.while_loop` makes it."""
    own = op.type in _PASSED_ON or loop_of(op) is not None or op.name in loop.arguments
    return own or (op.type == "Switch" and op.inputs[1:2] == (loop.cond,))


def _across(op: Operation, graph: Graph) -> tuple[str, ...]:
    """What it waits for on the other side of a border, where a script can wait for it."""
    return tuple(name for name in hinted_items(op, ACROSS) if name in graph)


def _loop(op: Operation, loop: Loop, statement: Statement) -> str:
    scope = op.scope or op.name
    function = _identifier(scope)
    count = len(loop.variables)
    shapes = ", ".join(_shape(loop.graph[name]) for name in loop.variables)
    captured = dict(zip(loop.captures, op.inputs[count:], strict=True))
    arguments = [
        f"{function}_cond",
        f"{function}_body",
        "start",
        f"shape_invariants=[{shapes}]",
        f"parallel_iterations={attribute(op, 'parallel_iterations', int, 10)}",
        "return_same_structure=True",
        f"name={scope + '/'!r}",
    ]
    names = [op.output(index).short for index in range(count)]
    lines = [
        *(f"known[{name!r}] = {_tensor(ref)}" for name, ref in captured.items()),
        *_functions(function, loop, statement),
        f"start = [{', '.join(_tensor(ref) for ref in op.inputs[:count])}]",
        *_waiting(op),
        f"found = tf1.while_loop({', '.join(arguments)})",
        f"known.update(zip({names!r}, found))",
    ]
    return "\n".join(lines)


def _identifier(name: str) -> str:
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    return text if text.isidentifier() else f"loop_{text}"


def _waiting(op: Operation) -> Iterator[str]:
    """The loop begins when what it waits for is done. (All in it would wait, in TensorFlow.)"""
    if op.control_inputs:
        needed = ", ".join(f"operation({name!r})" for name in op.control_inputs)
        yield f"with tf1.control_dependencies([{needed}]):"
        yield "    start = [tf.identity(x) for x in start]"


def _functions(function: str, loop: Loop, statement: Statement) -> Iterator[str]:
    """Those of the condition and of the body."""
    graph, ancestors = loop.graph, loop.graph.ancestors([loop.cond.op])
    asked = [name for name in graph.order if name in ancestors]
    done = [name for name in graph.order if name not in ancestors]
    given = [_aliases(name, loop) for name in loop.variables]
    branches = Branches(loop)

    def exact(op: Operation) -> str:
        """A name that ends in a slash is taken as it is, whatever scope is around."""
        return statement(replace(op, name=f"{op.name.rstrip('/')}/"))

    def lines(names: list[str], skipped: set[str]) -> Iterator[str]:
        part = Graph.ordered({n: graph[n] for n in names if n not in skipped})
        for name, text in zip(part.order, statements(part, exact), strict=True):
            yield "    " + branches.placed(graph[name], text).replace("\n", "\n    ")

    taken = {*loop.arguments, *(name for names in given for name in _operations(names))}
    yield f"\ndef {function}_cond(*variables):"
    yield f"    known.update(zip({list(loop.variables)!r}, variables))"
    yield from lines(asked, taken)
    yield f"    return {_tensor(loop.cond)}\n"
    yield f"\ndef {function}_body(*variables):"
    yield f"    for names, variable in zip({given!r}, variables):"
    yield "        known.update(dict.fromkeys(names, variable))"
    yield from lines(done, taken)
    yield f"    return [{', '.join(_tensor(ref) for ref in loop.results)}]\n"


def _aliases(variable: str, loop: Loop) -> list[str]:
    """What is the variable once the condition holds: the true side of its Switch, and an Identity
    of that."""
    wanted = TensorRef(variable), loop.cond
    switches = [op for op in loop.graph if op.type == "Switch" and op.inputs == wanted]
    passed = [op.output(1).short for op in switches]
    sides = {(op.output(1),) for op in switches}
    same = [op for op in loop.graph if op.type == "Identity" and op.inputs in sides]
    return [
        *(op.name for op in switches),
        *passed,
        *(op.name for op in same if not hinted_items(op, ACROSS)),
    ]


def _operations(names: list[str]) -> Iterator[str]:
    return (TensorRef.parse(name).op for name in names)


def _named(op: Operation, statement: Statement) -> str:
    """What TensorFlow makes itself: another name of its input, once what it waits for is done."""
    if not op.control_inputs:
        taken = op.inputs[0] if op.inputs else None
        return f"known[{op.name!r}] = {_tensor(taken)}"
    text = statement(replace(op, type="Identity", attrs={}, name=f"{op.name}/wait"))
    return f"{text}\nknown[{op.name!r}] = tensor({f'{op.name}/wait'!r})"


def _tensor(ref: TensorRef | None) -> str:
    return f"tensor({ref.short!r})" if ref is not None else "None"


def _shape(argument: Operation) -> str:
    """What a loop variable is in all iterations, where that is declared: what is known here and
    not there would be a contradiction."""
    dims = attribute(argument, "shape", Shape, UNKNOWN).dims
    return f"tf.TensorShape({None if dims is None else list(dims)})"
