"""The graph of a gradient function as Python with `tf`: one line for each operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradstep.core.document.function_lookup import argument_names, identifier
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.declare.raw_calls import raw_call, value_text
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import infer_declared

CALL = "call"  # the operation that gives what the function gives, of a graph that only calls it
_TAKEN = ("op", "grads", "tf", "np", "float", "bool", "object")  # what the lines themselves say
_PASSES = frozenset({"Identity", "IdentityN", "ReadVariableOp"})
_CONTROL = frozenset({"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"})


def gradient_text(
    name: str, function: str, graph: Graph, places: Sequence[str], gives: Sequence[bool]
) -> str:
    """A function f(op, *grads), made of one that was saved. graph: placeholders, one for each of
    `places`, which is what that is in Python, and what is computed of them. gives: of each input of
    the operation, whether there is a gradient: the next that the graph gives. Raises GradstepError
    for what is no Python."""
    writer = _Writer(graph, places)
    lines = [*writer.lines()]
    given = [*writer.given()]
    if len(given) < sum(gives):
        raise GradstepError(f"it gives {len(given)} tensors where {sum(gives)} are wanted")
    found = iter(given)
    back = [next(found) if is_given else "None" for is_given in gives]
    back += ["None"] * (len(places) - len(gives))
    said = f"    # made of the function {function.encode('unicode_escape').decode()}"
    head = f"def {identifier(name)}(op, *grads):\n{said}"
    return "\n".join(
        [head, *(f"    {line}" for line in lines), f"    return [{', '.join(back)}]", ""]
    )


class _Writer:
    def __init__(self, graph: Graph, places: Sequence[str]) -> None:
        self._graph, self._types = graph, infer_declared(graph).types
        words = [op.name for op in graph]
        self._names = dict(zip(words, argument_names(words, _TAKEN), strict=True))
        self._texts: dict[TensorRef, str] = {}
        for number, place in enumerate(places):
            self._texts[TensorRef(f"given_{number}")] = place

    def lines(self) -> Iterator[str]:
        for name in self._graph.order:
            op = self._graph[name]
            if op.output() in self._texts or op.type == "NoOp":
                continue
            inputs = [self._text(ref) for ref in op.inputs]
            if op.type in _PASSES:
                for number, text in enumerate(inputs):
                    self._texts[op.output(number)] = text
                continue
            own = self._names[name]
            yield f"{own} = {self._made(op, inputs)}"
            if name not in self._types.of:
                raise GradstepError(f"'{name:.80}' ({op.type}) in it cannot be computed")
            count = len(self._types.of[name])
            for number in range(count):
                self._texts[op.output(number)] = f"{own}[{number}]" if count > 1 else own

    def given(self) -> Iterator[str]:
        """What the graph gives, in order."""
        number = 0
        while (ref := TensorRef(CALL, number)) in self._texts:
            yield self._texts[ref]
            number += 1

    def _text(self, ref: TensorRef | None) -> str:
        if ref is not None and ref not in self._texts:
            raise GradstepError(f"it takes '{ref!s:.80}', which nothing in it gives")
        return "None" if ref is None else self._texts[ref]

    def _made(self, op: Operation, inputs: Sequence[str]) -> str:
        if op.type == "Const":
            return f"tf.constant({value_text(op.attrs.get('value'))})"
        if op.type in _CONTROL or find(op.type) is None:
            what = "a branch or a loop" if op.type in _CONTROL else f"the operation {op.type}"
            raise GradstepError(f"there is {what} in it, which cannot be written")
        return raw_call(op, inputs)
