"""The nodes of a graph while its functions are inlined: what there is, and what calls stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.free_names import take_free_name
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.graphdef_attributes import write_attribute
from gradstep.core.io.tensorflow.graphdef_proto import TYPE_NUMBERS, message
from gradstep.core.io.tensorflow.wire_text import node_of

_NODE = 700  # bytes of memory that a node takes besides those of its message
_HANDLES = (TYPE_NUMBERS[DType.RESOURCE], TYPE_NUMBERS[DType.VARIANT])


class Given(NamedTuple):
    """What a function gives: a tensor for each output ("name:0"), and operations that have to have
    run before it is done."""

    tensors: list[str]
    waits: list[str]


class FlatNodes:
    """nodes: NodeDefs, by and by. names: those that the graph has already."""

    def __init__(self, names: Iterable[str], budget: Budget) -> None:
        self.nodes: list[Any] = []
        self._taken = {name.lower() for name in names}
        self._budget = budget
        self._tensors: dict[str, str] = {}
        self._waits: dict[str, list[str]] = {}

    def free(self, name: str) -> str:
        """`name`, numbered if it is taken; nobody else gets it."""
        return take_free_name(name, self._taken)

    def keep(self, node: Any) -> None:
        """One as it is. Raises OverBudgetError."""
        self._budget.take(node.ByteSize(), "its nodes, while functions are inlined")
        self.nodes.append(node)

    def take(self, node: Any) -> None:
        """Say that a node is made. Raises OverBudgetError."""
        self._budget.take(_NODE + node.ByteSize(), "its functions, inlined")

    def make(self, op: str, name: str, inputs: Sequence[str], like: Any, **attrs: Any) -> str:
        """A new node, on the device of another one; its name. Attributes that are numbers of
        element types are given as DType."""
        node = message("NodeDef")(name=name, op=op, input=inputs, device=like.device)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(write_attribute(value))
        self.take(node)
        self.nodes.append(node)
        return name

    def stand(self, name: str, given: Given) -> None:
        """Whoever takes what the node `name` gives, takes that; who waits for it, for those."""
        for number, tensor in enumerate(given.tensors):
            self._tensors[f"{name}:{number}"] = numbered(tensor)
        makers = [node_of(tensor) for tensor in given.tensors]
        self._waits[name] = given.waits or makers

    def settled(self) -> list[Any]:
        """All nodes, that take from each other and from nothing that only stands for them."""
        for node in self.nodes:
            if any(self._is_stood_for(text) for text in node.input):
                inputs = [self._tensor(text) for text in node.input if text[0] != "^"]
                waits = [w for text in node.input if text[0] == "^" for w in self._waited(text[1:])]
                del node.input[:]
                node.input.extend([*inputs, *(f"^{name}" for name in dict.fromkeys(waits))])
        return self.nodes

    def _is_stood_for(self, text: str) -> bool:
        return node_of(text) in self._waits

    def _tensor(self, text: str) -> str:
        text = numbered(text)
        while text in self._tensors:
            text = self._tensors[text]
        return text.removesuffix(":0")

    def _waited(self, name: str) -> Iterator[str]:
        if name not in self._waits:
            yield name
            return
        for each in self._waits[name]:
            yield from self._waited(each)


def numbered(tensor: str) -> str:
    """With the number of its output, which the first one may be without."""
    return tensor if ":" in tensor else f"{tensor}:0"


def parts_of(node: Any) -> tuple[list[str], list[str]]:
    """The tensors that a NodeDef takes, and the operations that it waits for."""
    tensors = [text for text in node.input if text[:1] != "^"]
    return tensors, [text[1:] for text in node.input if text[:1] == "^"]


def waiting_for(names: Iterable[str]) -> list[str]:
    """Control inputs, as a NodeDef has them."""
    return [f"^{name}" for name in names]


def is_handle(number: int) -> bool:
    """Whether what is of an element type only leads to something."""
    return number in _HANDLES


def malformed(node: Any, what: str) -> GradstepError:
    """The error of a node whose parts do not belong together."""
    return GradstepError(f"'{node.name:.80}' {what}", kind="FileError", hint="the file is damaged")
