"""A graph's functions inlined, each call under a scope of its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import GRADIENT_OP_TYPE
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.functions.captured_tensors import Around, put_captures
from gradstep.core.io.tensorflow.functions.flat_nodes import (
    FlatNodes,
    Given,
    is_handle,
    malformed,
    numbered,
    parts_of,
    waiting_for,
)
from gradstep.core.io.tensorflow.functions.function_library import FunctionLibrary, count_of
from gradstep.core.io.tensorflow.functions.inlined_conds import CASES, IFS, Body, put_case, put_if
from gradstep.core.io.tensorflow.functions.inlined_loops import WHILES, put_while
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.io.tensorflow.graphdef_tensors import read_type
from gradstep.core.io.tensorflow.wire_text import node_of

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_DEEP = 100  # functions in functions
# What TensorFlow writes at each call that it could differentiate, in the program that made it.
_OF_PROGRAM = re.compile(r"(Stateful)?PartitionedCall-\d+")


def inlined(
    nodes: Collection[Any], library: FunctionLibrary, budget: Budget | None = None
) -> Collection[Any]:
    """The NodeDefs of a graph without calls of functions that are in the library. Raises
    GradstepError: FileError, also for functions that call themselves; OverBudgetError."""
    if not library:
        return nodes
    flat = FlatNodes((node.name for node in nodes), budget or Budget())
    inliner = _Inliner(flat, library)
    for node in nodes:
        inliner.put(node, "")
    return flat.settled()


class _Inliner:
    def __init__(self, flat: FlatNodes, library: FunctionLibrary) -> None:
        self._flat, self._library = flat, library
        self._within: list[str] = []  # functions that we are in
        self._arounds: list[Around] = []

    def put(self, node: Any, pivot: str) -> None:
        """A node, or what is in its place. pivot: what in a branch or a loop waits for, that takes
        nothing from there; "" outside."""
        body = self._body_at(node)
        if node.op in IFS and self._has(node, "then_branch", "else_branch"):
            put_if(self._flat, body, node)
        elif node.op in CASES and self._knows(node.attr["branches"].list.func):
            put_case(self._flat, body, node, pivot)
        elif node.op in WHILES and self._has(node, "cond", "body"):
            put_while(self._flat, body, self._library, node)
        elif node.op in CALLS and self._has(node, "f"):
            self._call(node, node.attr["f"].func.name, node.attr["f"].func.attr, pivot)
        elif node.op in self._library:
            self._call(node, node.op, node.attr, pivot)
        else:
            if gradient := self._library.gradients.of_operation(node):
                put_captures(self._flat, node, gradient, self._arounds, self._library)
            self._flat.keep(node)

    def _has(self, node: Any, *attrs: str) -> bool:
        return all(attr in node.attr for attr in attrs) and self._knows(
            node.attr[attr].func for attr in attrs
        )

    def _knows(self, functions: Iterable[Any]) -> bool:
        return all(each.name in self._library for each in functions)

    def _body_at(self, node: Any) -> Body:
        def body(function: Any, inputs: Sequence[str], pivot: str, scope: str) -> Given:
            waits = [pivot] if pivot else []
            outside = map(numbered, parts_of(node)[0][-len(inputs) or None :])
            entered = dict(zip(outside, inputs, strict=False))
            about = function.name, function.attr, inputs, scope, pivot, waits
            return self._body(node, *about, entered)

        return body

    def _call(self, node: Any, function: str, attrs: Any, pivot: str) -> None:
        inputs, waits = parts_of(node)
        waits = [*waits, *([pivot] if pivot else [])]
        given = self._body(node, function, attrs, inputs, node.name, pivot, waits)
        kinds = _output_types(self._library.function(function, node.name), attrs)
        once = waiting_for(dict.fromkeys(given.waits))
        if any(map(is_handle, kinds)) or len(kinds) != len(given.tensors):
            self._flat.stand(node.name, given)
        elif not kinds:
            self._flat.make("NoOp", node.name, once, node)
        else:
            marks = _marks(node)
            if not marks and (taken := self._taken_by_gradient(function, node)):
                marks = {GRADIENT_OP_TYPE: self._library.gradients.of_function(function)}
                given, kinds = Given([*given.tensors, *inputs], []), [*kinds, *taken]
            types = tuple(map(read_type, kinds))
            op, kind = ("IdentityN", types) if types[1:] else ("Identity", types[0])
            self._flat.make(op, node.name, [*given.tensors, *once], node, T=kind, **marks)

    def _taken_by_gradient(self, name: str, node: Any) -> list[int]:
        """What a function takes, if another one is its gradient, which takes that as well: the
        call gives it on, behind what the function gives. Nothing where some of it is no tensor."""
        if not self._library.gradients.of_function(name):
            return []
        arguments = self._library.function(name, node.name).signature.input_arg
        kinds = [each.type for each in arguments]
        return kinds if all(kinds) and not any(map(is_handle, kinds)) else []

    def _body(
        self,
        node: Any,
        name: str,
        attrs: Any,
        inputs: Sequence[str],
        scope: str,
        pivot: str,
        waits: Sequence[str],
        entered: Mapping[str, str] | None = None,
    ) -> Given:
        """What a function gives, once its nodes are there. waits: what those wait for that take
        nothing from each other; entered: see Around."""
        function = self._library.function(name, node.name)
        self._enter(name)
        inner = _Inside(function, attrs, inputs, self._library, self._flat, scope, node)
        self._arounds.append(Around(name, inner.argument, inner.tensor, entered))
        for made in inner.nodes(waits):
            self.put(made, pivot)
        self._arounds.pop()
        self._within.pop()
        return inner.given()

    def _enter(self, name: str) -> None:
        if name in self._within:
            way = " → ".join([*self._within[self._within.index(name) :], name])
            raise GradstepError(
                f"the function '{name:.80}' calls itself ({way:.200}), and has no end once it is "
                "inlined",
                kind="FileError",
                hint="make it a loop (tf.while_loop), and save the graph again",
            )
        if len(self._within) == _DEEP:
            raise GradstepError(
                f"its functions call each other more than {_DEEP} deep", kind="FileError"
            )
        self._within.append(name)


class _Inside:
    """A function as it is called once."""

    def __init__(
        self,
        function: Any,
        attrs: Any,
        inputs: Sequence[str],
        library: FunctionLibrary,
        flat: FlatNodes,
        scope: str,
        caller: Any,
    ) -> None:
        self._function, self._attrs = function, attrs
        self._library, self._flat = library, flat
        self._held = {each.name: each for each in function.node_def}
        self._names = {name: flat.free(f"{scope}/{name}") for name in self._held}
        self._arguments = self._given_as(inputs, caller)

    def nodes(self, waits: Sequence[str]) -> Iterator[Any]:
        """As they are in the graph around."""
        for node in self._function.node_def:
            made = message("NodeDef")()
            made.CopyFrom(node)
            self._flat.take(made)
            made.name = self._names[node.name]
            taken = {*map(node_of, node.input)}
            roots = waits if self._held.keys().isdisjoint(taken) else ()
            del made.input[:]
            made.input.extend(self._sorted([*map(self._read, node.input), *waiting_for(roots)]))
            _substitute(made, self._attrs)
            yield made

    def given(self) -> Given:
        function = self._function
        tensors = [self._read(function.ret[each.name]) for each in function.signature.output_arg]
        waits = [self._names[name] for name in function.control_ret.values() if name in self._names]
        return Given(tensors, waits)

    def argument(self, place: int) -> str:
        """The first tensor of the argument that is there; "" for none."""
        arguments = self._function.signature.input_arg
        if not -len(arguments) <= place < len(arguments):
            return ""
        return next(iter(self._arguments[arguments[place].name]), "")

    def tensor(self, text: str) -> str:
        """What stands for a tensor ("Exp:0"); "" where there is none such."""
        name, _, number = text.partition(":")
        if name in self._arguments:
            return next(iter(self._arguments[name]), "")
        return f"{self._names[name]}:{number or 0}" if name in self._names else ""

    def _given_as(self, inputs: Sequence[str], caller: Any) -> Mapping[str, list[str]]:
        found, at = {}, 0
        for argument in self._function.signature.input_arg:
            count = count_of(argument, self._attrs)
            found[argument.name] = [*inputs[at : at + count]]
            at += count
        if at != len(inputs):
            name = self._function.signature.name
            raise malformed(
                caller,
                f"gives the function '{name:.80}' {len(inputs)} tensors, and that takes {at}",
            )
        return found

    def _read(self, text: str) -> str:
        """What is called so in the function, as it is called around it."""
        name, _, rest = text.removeprefix("^").partition(":")
        output, _, index = rest.rpartition(":")
        number = int(index) if index.isdecimal() else 0
        wait = "^" if text[:1] == "^" else ""
        if name in self._arguments and number < len(self._arguments[name]):
            given = self._arguments[name][number]
            return f"^{node_of(given)}" if wait else given
        if name not in self._held:
            of = self._function.signature.name
            raise GradstepError(
                f"function '{of:.80}' takes '{text:.80}', which is not in it",
                kind="FileError",
                hint="the file is damaged",
            )
        if wait:
            return f"^{self._names[name]}"
        found = self._library.number(self._held[name], output or rest, number)
        return f"{self._names[name]}:{found}"

    @staticmethod
    def _sorted(texts: Sequence[str]) -> list[str]:
        """Tensors first."""
        waits = [text for text in texts if text[:1] == "^"]
        return [*(text for text in texts if text[:1] != "^"), *dict.fromkeys(waits)]


def _substitute(node: Any, attrs: Any) -> None:
    """What the function leaves to whoever calls it."""
    for value in node.attr.values():
        if value.WhichOneof("value") == "placeholder" and value.placeholder in attrs:
            value.CopyFrom(attrs[value.placeholder])


def _output_types(function: Any, attrs: Any) -> list[int]:
    return [
        each.type or (attrs[each.type_attr].type if each.type_attr in attrs else 0)
        for each in function.signature.output_arg
    ]


def _marks(node: Any) -> dict[str, str]:
    """What the call says of its gradient."""
    if GRADIENT_OP_TYPE not in node.attr:
        return {}
    asked = node.attr[GRADIENT_OP_TYPE].s.decode(errors="replace")
    return {} if _OF_PROGRAM.fullmatch(asked) else {GRADIENT_OP_TYPE: asked}
