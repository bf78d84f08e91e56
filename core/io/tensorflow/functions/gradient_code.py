"""Functions of a library that are gradients, as gradient functions of a document: Python with `tf`.

They run as any Python of a document does: once it is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.io.tensorflow.functions.custom_gradients import CustomGradients
from gradstep.core.io.tensorflow.functions.gradient_writer import CALL, gradient_text
from gradstep.core.io.tensorflow.graphdef_proto import message

Flat = Callable[[Any], Graph]  # of a message with `node` and `library`: without calls


@dataclass
class GradientCode:
    """items: by the name of the gradient. unwritten: those that are no Python, and why."""

    items: dict[str, CodeItem] = field(default_factory=dict)
    unwritten: dict[str, str] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        """A paragraph for those that are here, and one for each that is not."""
        if self.items:
            yield (
                f"Saved as functions are gradients of its own: {', '.join(self.items):.200}. They "
                "are here as Python, made of these functions, and run once you trust it."
            )
        for name, why in self.unwritten.items():
            yield f"{name:.80}, a gradient of its own, is saved as a function and not here: {why}."


class _Rule(NamedTuple):
    """function: a FunctionDef. places: what its arguments are, in Python; gives: of each input of
    the operation, whether the function gives its gradient."""

    function: Any
    places: Sequence[str]
    gives: Sequence[bool]


def gradient_code(graph: Graph, gradients: CustomGradients, flat: Flat) -> GradientCode:
    """The gradients that operations ask for and that the library has."""
    made, library = GradientCode(), _Library(gradients)
    for op in within(graph):
        asked = op.gradient_op_type
        if asked is None or asked in made.items or asked in made.unwritten:
            continue
        try:
            if rule := library.rule(asked, op):
                name, body = rule.function.signature.name, flat(library.call(rule))
                text = gradient_text(asked, name, body, rule.places, rule.gives)
                made.items[asked] = CodeItem(asked, CodeKind.GRADIENT, text)
        except GradstepError as error:
            made.unwritten[asked] = error.message
    return made


class _Library:
    def __init__(self, gradients: CustomGradients) -> None:
        self._gradients = gradients
        self._functions = {each.signature.name: each for each in gradients.proto.function}
        self._caller = message("GraphDef")()

    def rule(self, asked: str, op: Operation) -> _Rule | None:
        """None for what the library has not. Raises GradstepError where something is missing."""
        if (found := self._gradients.registered(asked)) is not None:
            return self._of_operation(op, self._function(found.name), found.gives)
        if asked in self._gradients.differentiated:
            return self._of_function(asked, op)
        return None

    def _of_operation(self, op: Operation, function: Any, gives: Sequence[bool] | None) -> _Rule:
        """It takes the gradients of the outputs, and what was put behind the inputs for it."""
        count = len(function.signature.input_arg)
        if len(op.inputs) != count:
            raise GradstepError("it takes what is computed where it cannot be reached")
        outputs = len(function.signature.output_arg)
        kept = count if gives is None else len(gives)
        if gives is None:
            gives = [place >= count - outputs for place in range(count)]
        elif sum(gives) != outputs or kept > count:
            raise GradstepError("it gives what is no tensor")
        grads = [f"grads[{i}]" for i in range(kept)]
        return _Rule(function, [*grads, *(f"op.inputs[{i}]" for i in range(kept, count))], gives)

    def _of_function(self, asked: str, op: Operation) -> _Rule:
        """It takes what the function was given, and the gradients of what that gave."""
        function = self._function(asked)
        forward = self._function(self._gradients.differentiated[asked])
        taken, count = len(forward.signature.input_arg), len(op.inputs)
        given = len(function.signature.output_arg)
        if len(function.signature.input_arg) != count or given != taken:
            raise GradstepError("it takes or gives other tensors than what it is the gradient of")
        places = [f"op.inputs[{i}]" for i in range(count - taken, count)]
        places += [f"grads[{i}]" for i in range(count - taken)]
        return _Rule(function, places, [i >= count - taken for i in range(count)])

    def _function(self, name: str) -> Any:
        if name not in self._functions:
            raise GradstepError(f"its function '{name:.80}' is not in the file")
        return self._functions[name]

    def call(self, rule: _Rule) -> Any:
        """A graph that only calls the function: what it is given are placeholders. The next call
        is put into the same message, for the library may be large."""
        graph = self._caller
        if not graph.HasField("library"):
            graph.library.CopyFrom(self._gradients.proto)
        del graph.node[:]
        signature = rule.function.signature
        inputs = [f"given_{number}" for number, _ in enumerate(signature.input_arg)]
        for name, argument in zip(inputs, signature.input_arg, strict=True):
            node = graph.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = argument.type
            node.attr["shape"].shape.unknown_rank = True
        call = graph.node.add(name=CALL, op="PartitionedCall", input=inputs)
        call.attr["f"].func.name = signature.name
        return graph
