"""What a step does, in mathematical notation, rendered from the operations that run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from weakref import proxy

import numpy as np

from gradstep.core.autodiff.notation.control_sentences import ControlSentences
from gradstep.core.autodiff.notation.formula_notation import render
from gradstep.core.autodiff.notation.gradient_owners import GradientOwners, Readers
from gradstep.core.autodiff.notation.loop_symbols import LoopSymbols
from gradstep.core.autodiff.notation.passed_values import PassedValues
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, Phase, TensorRef
from gradstep.core.ops.build.variable import variable_read_by
from gradstep.core.ops.declare.table import OpDef, branch_of, find
from gradstep.core.ops.typing.inference import infer_declared

_PASSED = frozenset({"_Arg"})  # known by their own names, wherever they come from
_Gradients = Mapping[TensorRef, TensorRef]
_ROUND = re.compile(r"⁽[ᵗˢʳᵘ]⁾")
_DEPTH = 4  # levels of inlined operations before a name is used instead


class Sentence(NamedTuple):
    """A step in words. operands: what stands in it for a tensor, letter by letter -> the tensor."""

    text: str
    operands: Mapping[str, TensorRef]


class Notation:
    """Writes tensors and steps of one derived graph.

    gradients: forward tensor -> tensor that holds its gradient; edges: the contribution that
    flows back over each wire; both as Differentiation gives them. of: what was differentiated.
    names: what to call tensors, where not by their own names; depth: levels of inlined operations.
    others: what else was differentiated in it; losses then go by their names: `∂d_loss/∂w`.
    readers: the wires from each operation that was differentiated, if all are of this graph.
    before: of the graph before an edit.
    """

    def __init__(
        self,
        graph: Graph,
        of: tuple[TensorRef, ...],
        gradients: _Gradients,
        edges: Mapping[Edge, TensorRef],
        names: Mapping[TensorRef, str] = MappingProxyType({}),
        depth: int = _DEPTH,
        others: Sequence[Differentiation] = (),
        readers: Readers = None,
        before: Notation | None = None,
    ) -> None:
        self.graph = graph
        self._names = names
        self._depth = depth
        self._symbols = LoopSymbols(graph)
        self._passed = PassedValues(self._symbols)
        several = any(other.of != of for other in others)
        self.numerator = self._loss(of) if several else "∂L" if len(of) == 1 else "∂ΣL"
        # Of the sentence that is being written: operands, what names are used, and for several.
        self._said: dict[str, TensorRef] = {}
        self._named: dict[str, TensorRef] = {}
        self._alike: set[str] = set()
        every = [(self.numerator, gradients, edges)]
        for other in others:
            loss = self._loss(other.of) if several else self.numerator
            every.append((loss, other.gradients, other.edges))
        known = [] if before is None else before._owners
        self._owners: list[GradientOwners] = [
            GradientOwners(graph, *about, readers, known[place] if place < len(known) else None)
            for place, about in enumerate(every)
        ]
        # Not a cycle: what is let go of is let go of with all that it holds, and at once.
        self._control = ControlSentences(self._symbols, self._passed, proxy(self))

    def _loss(self, of: Sequence[TensorRef]) -> str:
        return f"∂{self._last(of[0])}" if len(of) == 1 else "∂ΣL"

    def derivative(self, tensor: TensorRef) -> str:
        """`∂L/∂x`."""
        return f"{self.numerator}/∂{self._last(tensor)}"

    def _derivative(self, gradient: TensorRef, tensor: TensorRef, loss: str) -> str:
        """The same where the tensor that holds the gradient is an operand."""
        return self._say(f"{loss}/∂{self._name(tensor)}", gradient)

    def sentence(self, op: Operation) -> Sentence:
        """What executing `op` does, and what it says of which tensors. Those that would have one
        name have their scopes before it."""
        return self._sentence(lambda: self._step(op))

    def step(self, op: Operation) -> str:
        """What executing `op` does: `d = data + c`, `∂L/∂d += e ⊙ ∂L/∂a`, `c ← Adam(…)`."""
        return self.sentence(op).text

    def _step(self, op: Operation) -> str:
        if not op.inputs:
            return self._source(op)
        if told := self._control.sentence(op):
            return told
        if _writes(op):
            return self._update(op)
        if variable := variable_read_by(self.graph, op.name):
            return f"{op.name} = {self._last(TensorRef(variable))}"
        right = self._formula(op, self._depth)
        if op.phase is Phase.BACKWARD:
            return self._backward(op, right)
        return f"{self.own_name_of(op.output())} = {right}"

    def condition(self, loop: Operation) -> str:
        """`i < n`: while what a loop goes on, without saying in which iteration, unless it is of
        several loops' iterations."""
        text = self._sentence(lambda: self._control.condition_of(loop)).text
        return _ROUND.sub("", text) if len({*_ROUND.findall(text)}) == 1 else text

    # -- what sentences about control flow are made of -----------------------------------------

    def name_of(self, ref: TensorRef) -> str:
        """What an operand is called, a gradient as a gradient."""
        return self._operand(ref, 1)

    def own_name_of(self, ref: TensorRef) -> str:
        """What a tensor is called that is made: itself, not the loop variable that it passes on."""
        if ref in self._symbols.round:
            return self._tensor(ref)
        text = self._names.get(ref) or self._short(ref)
        known = self._named.setdefault(text, ref)
        if known != ref:
            self._alike.add(text)
        return self._say(ref.short if text in self._alike and ref not in self._names else text, ref)

    def inlined(self, ref: TensorRef, depth: int) -> str:
        """How a tensor is made in a loop or a cond, so many operations within each other."""
        return self._inline(ref, depth)

    def gradient_name_of(self, ref: TensorRef) -> str:
        """`∂L/∂x`, if a tensor is a gradient, or flows back over a wire; else ""."""
        found = self._arriving(ref) or self._owner(ref)
        return "" if found is None else self._derivative(ref, *found)

    def _arriving(self, contribution: TensorRef) -> tuple[TensorRef, str] | None:
        """The tensor to which something comes back over a wire, and of which loss."""
        flows = (
            (tensor, one.loss)
            for one in self._owners[::-1]
            if (tensor := one.flows_to(contribution))
        )
        return next(flows, None)

    def _inline(self, ref: TensorRef, depth: int) -> str:
        origin = self._passed.origin(ref)
        op = self.graph.operations.get(origin.op)
        made = op is not None and origin not in self._symbols.round and origin.index == 0
        if op is None or not made or not op.inputs or depth < 1 or self._owner(ref) is not None:
            return self._operand(ref, 1)
        if op.type in ("NextIteration", "LoopCond", "Identity"):
            source = op.inputs[0]
            return self._operand(ref, 1) if source is None else self._inline(source, depth)
        if not _is_written_small(op):
            return self._operand(ref, 1)
        return self._formula(op, depth, self._inline)

    # -- sentences -----------------------------------------------------------------------------

    def gradient_of(self, tensor: TensorRef, gradient: TensorRef) -> str:
        """`∂L/∂e = d ⊙ ∂L/∂a`: how the gradient of `tensor` is made."""
        left = self.derivative(tensor)
        return self._sentence(lambda: f"{left} = {self._made(gradient, self._depth)}").text

    def _sentence(self, write: Callable[[], str]) -> Sentence:
        """Written a second time if there are tensors in it whose names end alike."""
        self._said, self._named, self._alike = {}, {}, set()
        text = write()
        if self._alike:
            self._said = {}
            text = write()
        return Sentence(text, {words: ref for words, ref in self._said.items() if words in text})

    def _backward(self, op: Operation, right: str) -> str:
        result = op.output()
        target, owner = self._arriving(result), self._owner(result)
        if target is not None:
            sign = "+=" if any(one.is_summand(result) for one in self._owners) else "="
            return _equation(self._derivative(result, *target), sign, right)
        if owner is not None:
            return _equation(self._derivative(result, *owner), "=", right)
        return _equation(self.own_name_of(result), "=", right)

    def _owner(self, gradient: TensorRef) -> tuple[TensorRef, str] | None:
        """The tensor whose gradient it is, and of which loss."""
        owners = ((tensor, one.loss) for one in self._owners if (tensor := one.tensor(gradient)))
        return next(owners, None)

    def _source(self, op: Operation) -> str:
        if op.type == "Const":
            value = self._constant(op) or _type_of(op)
            return f"{self._last(op.output())} = {value}"
        after = ", ".join(name.rpartition("/")[2] for name in op.control_inputs)
        return f"{op.type} {op.name}" + (f", after {after}" if after else "")

    def _update(self, op: Operation) -> str:
        definition = find(op.type)
        target = op.inputs[_writes(op)[0]]
        if definition is None or target is None:
            return f"{op.type} {self._last(op.output())}"
        names = definition.arity(len(op.inputs))
        shown = [
            self._operand(ref, 2 if name == "grad" else 1)
            for name, ref in zip(names, op.inputs, strict=True)
            if ref is not None
            and ref != target
            and name in ("grad", "value", "delta", "alpha", "lr")
        ]
        return f"{self._last(target)} ← {op.type}({', '.join([self._last(target), *shown])})"

    def _operand(self, ref: TensorRef, depth: int) -> str:
        if (owner := self._owner(ref)) is not None:
            return self._derivative(ref, *owner)
        if ref in self._names:
            return self._names[ref]
        origin = self._passed.origin(ref)
        if origin != ref and (owner := self._owner(origin)) is not None:
            return self._derivative(ref, *owner)
        if origin.op not in self.graph:
            return self._last(origin)  # a wire from nowhere: the step will fail, and may be shown
        op = self.graph[origin.op]
        if op.type == "Const":
            return self._constant(op) or self._tensor(origin, ref)
        if op.type in _PASSED or origin in self._symbols.round:
            return self._tensor(origin, ref)
        if not op.inputs:
            self._name(origin)
            return self._say(op.name, ref)  # a variable, or a slot of one: `c/Adam` says whose
        if op.phase is Phase.FORWARD:
            return self._tensor(origin, ref)
        return self._made(origin, depth - 1) if depth > 1 else self._tensor(origin, ref)

    def _made(self, ref: TensorRef, depth: int) -> str:
        """How a tensor is made. A formula gives its operation's output 0; another one is told by
        the op type and its number: `Unpack(∂L/∂y)[1]`."""
        op = self.graph[ref.op]
        if ref.index == 0:
            return self._formula(op, depth)
        if told := self._control.choice(op):
            return told
        operands = [self._operand(source, depth) for source in op.inputs if source is not None]
        return f"{op.type}({', '.join(operands)})[{ref.index}]"

    def _formula(
        self, op: Operation, depth: int, operand: Callable[[TensorRef, int], str] | None = None
    ) -> str:
        """operand: how its inputs are written, if not as in all other sentences."""
        if told := self._control.formula(op):
            return told
        definition, write = find(op.type), operand or self._operand
        deeper = depth if operand is None else depth - 1
        operands = [write(ref, deeper) for ref in op.inputs if ref is not None]
        if op.type == "AddN":
            return " + ".join(f"({text})" if " if " in text else text for text in operands)
        if definition is None or not definition.formula or len(operands) < len(op.inputs):
            return f"{op.type}({', '.join(operands)})"
        attrs = {name: definition.attr(op, name) for name in definition.attrs}
        names = _arguments(definition, operands)
        real = "conj" in definition.formula and self._is_real(op)
        return render(definition.formula, names, attrs, real)

    def _is_real(self, op: Operation) -> bool:
        """Whether none of its inputs is known to be complex."""
        types = infer_declared(self.graph).types
        kinds = [types.get(ref) for ref in op.inputs if ref is not None]
        return not any(kind is not None and kind.dtype.is_complex for kind in kinds)

    def _tensor(self, ref: TensorRef, held: TensorRef | None = None) -> str:
        """What an operand is called. held: the tensor with its value, if that is another one."""
        return self._say(self._name(ref), held or ref)

    def _say(self, text: str, held: TensorRef) -> str:
        """`text`, which stands for a tensor."""
        self._said[text] = held
        return text

    def _name(self, ref: TensorRef) -> str:
        """The last part of a tensor's name, or all of it where the sentence has another tensor
        whose name ends alike."""
        text = self._last(ref)
        ref = self._symbols.same.get(ref, ref)
        if self._named.setdefault(text, ref) != ref:
            self._alike.add(text)
        return ref.short if text in self._alike and ref not in self._names else text

    def _last(self, ref: TensorRef) -> str:
        """What the tensor is called, or the last part of its name: `gradients/a_grad/Mul_1` is
        `Mul_1`."""
        if ref in self._names:
            return self._names[ref]
        if symbol := self._symbols.round.get(self._symbols.same.get(ref, ref)):
            return symbol
        if ref.op in self._symbols.captured and ref.index == 0:
            return self._copied(ref)
        return self._branched(ref) or self._short(ref)

    def _short(self, ref: TensorRef) -> str:
        short = (variable_read_by(self.graph, ref.op) or ref.op).rpartition("/")[2]
        return short if ref.index == 0 else f"{short}:{ref.index}"

    def _copied(self, ref: TensorRef) -> str:
        """What a loop reads from outside, as one iteration has it: the gradient of `x⁽ᵗ⁾` is that
        of `x` by what the iteration makes of it."""
        origin = self._passed.origin(ref)
        text = self._short(ref) if origin == ref else self._last(origin)
        return text if "⁽" in text else f"{text}{self._symbols.when(ref)}"

    def _branched(self, ref: TensorRef) -> str:
        """What a cond reads from outside, as one branch has it: `x|p`."""
        op = self.graph.operations.get(ref.op)
        if op is None or branch_of(op.type) != "switch" or None in op.inputs or len(op.inputs) != 2:
            return ""
        data, predicate = (x for x in op.inputs if x is not None)
        if op.phase is Phase.BACKWARD:
            return ""
        side = self._passed.decided(predicate, ref.index == 1)
        sign = "" if side[1] else "¬"
        return f"{self._last(data)}|{sign}{self._last(side[0])}"

    @staticmethod
    def _constant(op: Operation) -> str:
        """A small one's value; nothing of a larger one."""
        value = op.attrs.get("value")
        if isinstance(value, Constant) and value.array.size <= 4:
            text = np.array2string(
                value.array, separator=", ", formatter={"float_kind": "{:.6g}".format}
            )
            return " ".join(text.split())
        return ""


def _type_of(op: Operation) -> str:
    """`float32[40, 64]`, of a constant."""
    value = op.attrs.get("value")
    if not isinstance(value, Constant):
        return op.type
    return f"{DType.of(value.array.dtype)}[{', '.join(map(str, value.array.shape))}]"


def _arguments(definition: OpDef, operands: Sequence[str]) -> dict[str, str]:
    """What the names in the op's formula stand for; a variadic input is a list."""
    named = dict(zip(definition.arity(len(operands)), operands, strict=True))
    for spec in definition.inputs:
        if spec.variadic:
            many = [text for name, text in named.items() if name.startswith(f"{spec.name}[")]
            named[spec.name] = f"[{', '.join(many)}]"
    return named


def _equation(left: str, sign: str, right: str) -> str:
    """Names for one thing on both sides are not said twice."""
    return (
        f"{left} goes back as it is" if left == right and sign == "=" else f"{left} {sign} {right}"
    )


def _is_written_small(op: Operation) -> bool:
    """Whether an operation is a sign, or a function with few arguments."""
    definition = find(op.type)
    formula = "" if definition is None else definition.formula
    return bool(formula) and len(op.inputs) <= 2 and len(formula) <= 24


def _writes(op: Operation) -> tuple[int, ...]:
    definition = find(op.type)
    return () if definition is None else definition.state.writes
