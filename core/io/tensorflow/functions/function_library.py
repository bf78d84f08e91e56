"""The functions of a GraphDef, and which number an operation's output has that they call by name.

Inside of a function, `split:output:2` is the third tensor of the output called `output`; how many
tensors come before that, the definition of the operation says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.io.tensorflow.functions.custom_gradients import CustomGradients
from gradstep.core.io.tensorflow.functions.several_outputs import SEVERAL_OUTPUTS
from gradstep.core.io.tensorflow.wire_text import node_of
from gradstep.core.ops.declare.table import find


class FunctionLibrary:
    """proto: a FunctionDefLibrary; ops: OpDefs that came with the graph, if any did; gradients:
    which functions are the gradients of what."""

    def __init__(
        self, proto: Any, ops: Iterable[Any] = (), gradients: CustomGradients | None = None
    ) -> None:
        self.gradients = gradients or CustomGradients(proto)
        self._functions = {each.signature.name: each for each in proto.function}
        self._ops = {each.name: each for each in ops}

    def __bool__(self) -> bool:
        return bool(self._functions)

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def function(self, name: str, node: str) -> Any:
        """A FunctionDef, which `node` calls. Raises GradstepError (FileError)."""
        if name not in self._functions:
            raise GradstepError(
                f"'{node:.80}' calls the function '{name:.80}', which is not in the file",
                kind="FileError",
                hint="the file is damaged, or only a part of a graph",
            )
        return self._functions[name]

    def number(self, node: Any, output: str, index: int) -> int:
        """Of tensor `index` in `output` of a NodeDef, among all that it gives."""
        before = 0
        for name, count in self._outputs(node):
            if name == output:
                return before + index
            before += count
        return index  # of an operation that nobody knows

    def returned_arguments(self, name: str, node: str) -> list[str]:
        """What each output of a function is, where that is one of its arguments; else ""."""
        function = self.function(name, node)
        arguments = {each.name for each in function.signature.input_arg}
        names = (node_of(function.ret[each.name]) for each in function.signature.output_arg)
        return [name if name in arguments else "" for name in names]

    def _outputs(self, node: Any) -> Sequence[tuple[str, int]]:
        """Names, and how many tensors each stands for."""
        if node.op in self._functions:
            return _counts(self._functions[node.op].signature, node)
        if node.op in self._ops:
            return _counts(self._ops[node.op], node)
        known = find(node.op)
        names = SEVERAL_OUTPUTS.get(node.op, ()) if known is None else known.outputs
        return [(name.rstrip("*"), 1) for name in names]


def _counts(definition: Any, node: Any) -> list[tuple[str, int]]:
    return [(each.name, count_of(each, node.attr)) for each in definition.output_arg]


def count_of(argument: Any, attrs: Any) -> int:
    """How many tensors an ArgDef stands for, with these attributes."""
    if argument.number_attr:
        return int(attrs[argument.number_attr].i)
    if argument.type_list_attr:
        return len(attrs[argument.type_list_attr].list.type)
    return 1
