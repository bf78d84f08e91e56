"""What the steps of loops, conds, tensor arrays and stacks do, as mathematics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from gradstep.core.autodiff.notation.loop_symbols import COUNT, LoopSymbols
from gradstep.core.autodiff.notation.passed_values import PassedValues, Side
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Operation, Phase, TensorRef
from gradstep.core.ops.declare.table import branch_of, find

_LONG = 90  # letters of what a loop does, beyond which its variables are listed
_SHORT = 24  # letters of a condition that is written out where something hangs on it
_INLINED = 3  # operations within each other of what goes round a loop


class Writer(Protocol):
    """Who writes the sentence: names of tensors, and what makes them."""

    def name_of(self, ref: TensorRef) -> str:
        """As an operand, a gradient as a gradient."""

    def own_name_of(self, ref: TensorRef) -> str:
        """What is on the left of a sentence: what the tensor is called itself."""

    def inlined(self, ref: TensorRef, depth: int) -> str:
        """How it is made, in brackets nowhere."""

    def gradient_name_of(self, ref: TensorRef) -> str:
        """`∂L/∂x`, if a tensor is a gradient; else ""."""

    @property
    def numerator(self) -> str:
        """`∂L`, of what gradients are."""


class ControlSentences:
    """What operations of control flow do, for the `writer` of a graph."""

    def __init__(self, symbols: LoopSymbols, passed: PassedValues, writer: Writer) -> None:
        self._symbols, self._passed, self._write = symbols, passed, writer
        self._graph = symbols.graph

    def sentence(self, op: Operation) -> str:
        """ "" for an operation that is none of these."""
        made = _BY_TYPE.get(op.type)
        if not _is_whole(op):
            return ""
        return self._sum(op) if made is None else made(self, op)

    def formula(self, op: Operation) -> str:
        """What such an operation gives, where it is written into another sentence; or ""."""
        if not _is_whole(op):
            return ""
        if op.type in ("TensorArrayReadV3", "TensorArrayGatherV3"):
            return self._place(op)
        if op.type == "TensorArraySizeV3":
            return f"size({self._in(op, 0)})"
        if op.type == "TensorArrayConcatV3":
            return f"concatenate({self._array_of(op)})"
        if op.type == "IterationCount":
            return COUNT
        if branch_of(op.type) == "merge":
            return self._taken(op)
        if op.type == "TensorArrayGradV3":
            return f"{self._write.numerator}/∂{self._in(op, 0)}"
        return ""

    def choice(self, op: Operation) -> str:
        """Which input a Merge took, as a number: `[p]` is 1 where p holds, else 0; or "" for what
        is no such Merge."""
        side = self._passed.side(op) if branch_of(op.type) == "merge" else None
        return "" if side is None else f"[{self._said(side)}]"

    def condition_of(self, loop: Operation) -> str:
        """While what a loop goes on; "" for what is none."""
        found = loop_of(loop)
        return "" if found is None else self._condition(found.cond)

    # -- loops ---------------------------------------------------------------------------------

    def _loop(self, op: Operation) -> str:
        """`while i⁽ᵗ⁾ < n: i⁽ᵗ⁺¹⁾ = i⁽ᵗ⁾ + 1`, or what goes round it where that is long."""
        loop = loop_of(op)
        if loop is None or not loop.variables or len(op.inputs) != len(loop.arguments):
            return ""
        if op.phase is Phase.BACKWARD and loop.variables[0] in self._symbols.counters:
            return self._way_back(op)
        head = f"while {self._condition(loop.cond)}"
        pairs = [*zip(map(self._after, loop.variables), loop.results, strict=True)]
        rounds = [f"{after} = {self._going_round(ref)}" for after, ref in pairs]
        whole = f"{head}: {', '.join(rounds)}"
        return whole if len(whole) <= _LONG else f"{head}: {', '.join(a for a, _ in pairs)}"

    def _going_round(self, ref: TensorRef) -> str:
        """How what a loop variable is next is made."""
        op = self._graph.operations.get(ref.op)
        passes = op is not None and op.type == "NextIteration" and op.inputs
        source = op.inputs[0] if op is not None and passes else None
        return self._write.inlined(ref if source is None else source, _INLINED)

    def _way_back(self, op: Operation) -> str:
        """Over the iterations from the last to the first, with what goes back."""
        loop = loop_of(op)
        assert loop is not None
        found = (self._backward_name(name) for name in loop.variables[1:])
        names = ", ".join(name for name in dict.fromkeys(found) if name)
        return f"for t = {COUNT} − 1 … 0: {names}"

    def _backward_name(self, argument: str) -> str:
        """What goes back to the iteration before, or adds up."""
        result = self._symbols.carried[argument]
        summed = self._summed(result)
        return summed or self._write.gradient_name_of(result)

    def _argument(self, op: Operation) -> str:
        if not op.inputs or op.inputs[0] is None:
            return ""
        if op.name not in self._symbols.carried:
            return f"{self._own(op)} = {self._in(op, 0)}, in every iteration"
        result = self._symbols.carried[op.name]
        if op.name in self._symbols.counters:
            return f"k = {COUNT}, {COUNT} − 1, … 1"
        left = self._write.gradient_name_of(op.output()) or self._here(op)
        first = self._write.inlined(op.inputs[0], 2)
        return f"{left} = {first} at first, then {self._round_result(result)}"

    def _round_result(self, result: TensorRef) -> str:
        """What the iteration before gave."""
        summed = self._summed(result)
        if summed:
            return "the sum so far"
        gradient = self._write.gradient_name_of(result)
        return gradient or "what the iteration before gave"

    def _here(self, op: Operation) -> str:
        return self._summed(self._symbols.carried[op.name]) or self._write.name_of(op.output())

    def _after(self, argument: str) -> str:
        """What a loop variable is called in the next iteration."""
        now = self._symbols.round.get(TensorRef(argument), argument)
        return f"{now[:-1]}⁺¹⁾" if now.endswith("⁾") else now

    def _hand_on(self, op: Operation) -> str:
        """What only hands its input on."""
        return f"{self._own(op)} = {self._in(op, 0)}"

    def _exit(self, op: Operation) -> str:
        source = op.inputs[0]
        assert source is not None
        own = op.name.rpartition("/")[2]
        gradient = self._write.gradient_name_of(source)
        cond = self._symbols.conditions.get(source.op)
        if gradient or cond is None or self._graph[source.op].phase is Phase.BACKWARD:
            return f"{own} = {self._in(op, 0)}"
        return f"{own} = {self._in(op, 0)}, as soon as {self._condition(cond)} is false"

    def _count(self, op: Operation) -> str:
        source = op.inputs[0]
        loop = "" if source is None else source.op.rpartition("/")[2]
        return f"{COUNT} = how many iterations {loop} made"

    def _kept(self, op: Operation) -> str:
        return f"{self._write.name_of(op.output())}, as it was on the way there"

    def _sum(self, op: Operation) -> str:
        """`Σ ∂L/∂x⁽ᵗ⁾ += …`: what adds up over the iterations of a way back; "" for others."""
        summed = self._summed(op.output()) if op.phase is Phase.BACKWARD and op.inputs else ""
        if not summed:
            return ""
        return f"{summed} += {self._in(op, 1)}"

    def _summed(self, ref: TensorRef) -> str:
        """`Σ ∂L/∂x⁽ᵗ⁾`, where a tensor is that sum after an iteration; else ""."""
        op = self._graph.operations.get(ref.op)
        if op is None or op.type not in ("AddV2", "Add") or len(op.inputs) != 2:
            return ""
        total, part = op.inputs
        if total is None or part is None or self._symbols.carried.get(total.op) != ref:
            return ""
        gradient = self._write.gradient_name_of(part)
        return gradient and f"Σ {gradient}"

    # -- conds ---------------------------------------------------------------------------------

    def _switch(self, op: Operation) -> str:
        predicate = op.inputs[1]
        assert predicate is not None
        gradients = [self._write.gradient_name_of(op.output(index)) for index in (1, 0)]
        side = self._passed.decided(predicate)
        what = self._in(op, 0)
        if self._symbols.variable(op.output()) is not None:
            return f"{what} goes round while {self._condition(predicate)}"
        if any(gradients):
            ways = zip(gradients, (side, (side[0], not side[1])), strict=True)
            return "; ".join(f"{left} = {what} if {self._said(way)}" for left, way in ways if left)
        readers = (e for e in self._graph.consumers[op.name] if self._graph[e.op].phase is op.phase)
        read = {ref.index for ref in map(self._graph.source, readers) if ref is not None}
        if len(read) == 1:
            way = side if 1 in read else (side[0], not side[1])
            return f"{self._own(op)} = {what} if {self._said(way)}"
        return f"{self._own(op)} = {what}, split by {self._condition(side[0])}"

    def _merge(self, op: Operation) -> str:
        left = self._write.gradient_name_of(op.output()) or self._own(op)
        return f"{left} = {self._taken(op)}"

    def _taken(self, op: Operation) -> str:
        """`a if p else b`."""
        names = [self._zero_or_name(ref) for ref in op.inputs if ref is not None]
        side = self._passed.side(op)
        if side is None:
            return f"whichever of {', '.join(names)} there is"
        first, second = names
        if not side[1]:
            side, first, second = (side[0], True), second, first
        return f"{second} if {self._said(side)} else {first}"

    def _zero_or_name(self, ref: TensorRef) -> str:
        """Zeros that stand for the branch that was not taken are 0."""
        op = self._graph.operations.get(ref.op)
        zeros = op is not None and op.type == "ZerosLike" and op.phase is Phase.BACKWARD
        return "0" if zeros else self._write.name_of(ref)

    def _said(self, side: Side) -> str:
        text = self._condition(side[0])
        return text if side[1] else f"not {f'({text})' if ' ' in text else text}"

    def _condition(self, ref: TensorRef | None) -> str:
        """A predicate: how it is made, if that is short, else what it is called."""
        if ref is None:
            return "?"
        text = self._write.inlined(self._passed.decided(ref)[0], 2)
        return text if len(text) <= _SHORT else self._write.name_of(ref)

    # -- arrays and stacks ---------------------------------------------------------------------

    def _array(self, op: Operation) -> str:
        return f"{self._own(op)} = {self._in(op, 0)} places, empty"

    def _array_gradient(self, op: Operation) -> str:
        return f"{self._write.numerator}/∂{self._in(op, 0)} = as many places, empty"

    def _write_element(self, op: Operation) -> str:
        return f"{self._place(op)} {self._becomes(op)} {self._in(op, 2)}"

    def _write_parts(self, op: Operation) -> str:
        parts = f"{self._in(op, 1)}, in parts of {self._in(op, 2)}"
        return f"{self._array_of(op)} {self._becomes(op)} {parts}"

    def _place(self, op: Operation) -> str:
        return f"{self._array_of(op)}[{self._in(op, 1)}]"

    def _array_of(self, op: Operation) -> str:
        """What an operation reads or writes: an array, or that of its elements' gradients."""
        handle = op.inputs[0]
        made = None if handle is None else self._graph.operations.get(handle.op)
        gradient = made is not None and made.type == "TensorArrayGradV3"
        return self.formula(made) if made is not None and gradient else self._in(op, 0)

    def _becomes(self, op: Operation) -> str:
        """Gradients of what was read several times add up in their place."""
        return "+=" if op.phase is Phase.BACKWARD else "←"

    def _push(self, op: Operation) -> str:
        return f"{self._stack(op)} ← {self._in(op, 1)}"

    def _pop(self, op: Operation) -> str:
        return f"{self._write.name_of(op.output())}, from {self._stack(op)}"

    def _stack(self, op: Operation) -> str:
        return self._passed.stack(op).rpartition("/")[2]

    # -- names ---------------------------------------------------------------------------------

    def _in(self, op: Operation, index: int) -> str:
        ref = op.inputs[index]
        return "?" if ref is None else self._write.name_of(ref)

    def _own(self, op: Operation) -> str:
        return self._write.own_name_of(op.output())


_BY_TYPE: Mapping[str, Callable[[ControlSentences, Operation], str]] = {
    "While": ControlSentences._loop,
    "_Arg": ControlSentences._argument,
    "LoopCond": lambda own, op: f"goes on while {own._condition(op.inputs[0])}",
    "NextIteration": ControlSentences._hand_on,
    "Exit": ControlSentences._exit,
    "RefExit": ControlSentences._exit,
    "Enter": ControlSentences._hand_on,
    "RefEnter": ControlSentences._hand_on,
    "Switch": ControlSentences._switch,
    "RefSwitch": ControlSentences._switch,
    "Merge": ControlSentences._merge,
    "RefMerge": ControlSentences._merge,
    "IterationCount": ControlSentences._count,
    "IterationValue": ControlSentences._kept,
    "TensorArrayV3": ControlSentences._array,
    "TensorArrayGradV3": ControlSentences._array_gradient,
    "TensorArrayWriteV3": ControlSentences._write_element,
    "TensorArrayScatterV3": ControlSentences._write_element,
    "TensorArraySplitV3": ControlSentences._write_parts,
    "TensorArrayCloseV3": lambda own, op: f"{own._in(op, 0)} is given up",
    "StackV2": lambda own, op: f"{own._own(op)} = an empty stack",
    "StackPushV2": ControlSentences._push,
    "StackPopV2": ControlSentences._pop,
    "StackCloseV2": lambda own, op: f"{own._in(op, 0)} is given up",
}


def _is_whole(op: Operation) -> bool:
    """Whether nothing is left open that its op type asks for."""
    definition = find(op.type)
    asked = 0 if definition is None else sum(not spec.variadic for spec in definition.inputs)
    return None not in op.inputs and len(op.inputs) >= asked
