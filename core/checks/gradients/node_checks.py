"""Operations checked one by one: each alone, at the values that it really meets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.autodiff.check.check_result import CheckResult
from gradstep.core.autodiff.check.frozen_values import evaluate_alive, evaluate_all
from gradstep.core.autodiff.check.op_gradcheck import LocalCheck, check_operation
from gradstep.core.autodiff.check.override_advice import (
    explain_check,
    find_repeated_factor,
    suggest,
)
from gradstep.core.autodiff.check.telling_cotangents import largest, vanishes
from gradstep.core.autodiff.check.wrapped_function import WrappedFunction, find_wrapped
from gradstep.core.autodiff.notation.step_notation import Notation
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import gradient_name
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import CheckedTensor, NodeCheck, UncheckedNode

_MOST = 64  # elements of each input that are looked at when every node is checked
_HANDLE = "takes a handle of state besides values"
_DEEP = "has the gradient of a function that reads more than its arguments"
_DEAD = "is in a branch that is not taken, or next to one"


@dataclass(frozen=True)
class _Met:
    """What one operation meets. cotangents: by output; arriving: the first one in notation;
    wrapped: the function whose gradient its gradient is."""

    op: Operation
    inputs: Sequence[np.ndarray]
    cotangents: Mapping[int, np.ndarray]
    arriving: str
    wrapped: WrappedFunction | None = None


def node_checks(
    evaluate: Evaluator, here: Situation, graph: Graph, second_order: bool = False
) -> tuple[list[NodeCheck], list[UncheckedNode]]:
    """Every operation of `graph` that a gradient flows back through, in order, and those of them
    that are not checked."""
    derived = here.imported or differentiate(graph, here.request, here.functions)
    types = infer_declared(graph).types
    passing = [(op, _arriving(op, derived)) for op in graph if _passes_on(op, here)]
    on_the_way = [(op, arriving) for op, arriving in passing if arriving]
    plain = [(op, arriving) for op, arriving in on_the_way if _is_plain(op, types)]
    met = [*_meet(evaluate, here, derived, plain)]
    deep = {one.op.name for one in met if one.wrapped is not None and one.wrapped.body is None}
    alone = [one for one in met if one.op.name not in deep]
    found = (_checked(evaluate, here, one, _MOST, second_order) for one in alone)
    checks = [check for check in found if check is not None]
    alive = {one.op.name for one in met}
    left_out = [(op, _HANDLE) for op, _ in on_the_way if _takes_handle(op, types)]
    left_out += [(op, _DEAD) for op, _ in plain if op.name not in alive]
    left_out += [(one.op, _DEEP) for one in met if one.op.name in deep]
    return checks, [UncheckedNode(node=op.name, type=op.type, why=why) for op, why in left_out]


def node_check(
    evaluate: Evaluator, here: Situation, name: str, second_order: bool = False
) -> NodeCheck:
    """One operation, for the gradient that arrives at it, or, where none does, for one of its
    own. Raises GradstepError where there is nothing to check."""
    around = way_to(here.graph, name)
    if around:
        raise GradstepError(
            f"'{name}' is in the loop '{around[0].name}', whose gradient is checked as a whole",
            kind="ValueError",
            node=name,
            hint=f"check {around[0].name}",
        )
    op, types = here.graph[name], infer_declared(here.graph).types
    if _takes_handle(op, types):
        raise GradstepError(
            f"'{name}' ({op.type}) {_HANDLE}, and cannot be checked alone",
            kind="ValueError",
            node=name,
            hint="check all gradients: the whole is compared, with this in it",
        )
    found = None
    if _is_plain(op, types):
        one = _met_on_the_way(evaluate, here, op) or _met_alone(evaluate, here, op, types)
        found = _checked(evaluate, here, one, 0, second_order)
    if found is None:
        raise GradstepError(
            f"'{name}' ({op.type}) has no floating-point inputs and outputs that can be checked",
            kind="ValueError",
            node=name,
            hint="choose an operation that computes with floating-point tensors",
        )
    return found


def _passes_on(op: Operation, here: Situation) -> bool:
    """Whether its gradient in force is one: not None on purpose, as a stop's is."""
    if here.imported is not None:
        return any(Edge(op.name, i) in here.imported.edges for i in range(len(op.inputs)))
    name = gradient_name(op, here.request.overrides)
    definition = find(name)
    return name in here.functions or (definition is not None and definition.gradient.differentiable)


def _is_plain(op: Operation, types: Mapping[TensorRef, TensorType]) -> bool:
    """Whether it can stand alone: every input is wired, and none is a handle."""
    kinds = [types.get(ref) for ref in op.inputs if ref is not None]
    wired = bool(kinds) and len(kinds) == len(op.inputs)
    return wired and None not in kinds and not _takes_handle(op, types)


def _takes_handle(op: Operation, types: Mapping[TensorRef, TensorType]) -> bool:
    kinds = (types.get(ref) for ref in op.inputs if ref is not None)
    return any(k is not None and k.dtype is DType.RESOURCE for k in kinds)


def _arriving(op: Operation, derived: Differentiation) -> list[TensorRef]:
    return [ref for ref in derived.gradients if ref.op == op.name]


def _meet(
    evaluate: Evaluator,
    here: Situation,
    derived: Differentiation,
    wanted: Sequence[tuple[Operation, Sequence[TensorRef]]],
) -> Iterator[_Met]:
    """Inputs and arriving gradients of some operations, of one run."""
    notation = Notation(
        flatten_loops(derived.graph), here.request.of, derived.gradients, derived.edges
    )
    refs = [derived.gradients[y] for _, outputs in wanted for y in outputs]
    unique = list(dict.fromkeys([*_sources(op for op, _ in wanted), *refs]))
    values = evaluate_alive(evaluate, derived.graph, unique, here.given)
    for op, outputs in wanted:
        if not values.keys() >= {*_sources([op]), *(derived.gradients[y] for y in outputs)}:
            continue  # in a branch that is not taken
        yield _Met(
            op,
            [values[ref] for ref in _sources([op])],
            {y.index: values[derived.gradients[y]] for y in outputs},
            notation.gradient_of(outputs[0], derived.gradients[outputs[0]]),
            find_wrapped(here.graph, derived, op),
        )


def _sources(ops: Iterable[Operation]) -> list[TensorRef]:
    return [ref for op in ops for ref in op.inputs if ref is not None]


def _met_on_the_way(evaluate: Evaluator, here: Situation, op: Operation) -> _Met | None:
    """What `op` meets where the request is computed; None where no gradient arrives at it."""
    if not here.request.of or not here.request.wrt:
        return None
    derived = here.imported or differentiate(
        here.needed(here.request), here.request, here.functions
    )
    outputs = _arriving(op, derived)
    return next(_meet(evaluate, here, derived, [(op, outputs)]), None) if outputs else None


def _met_alone(
    evaluate: Evaluator, here: Situation, op: Operation, types: Mapping[TensorRef, TensorType]
) -> _Met:
    """What `op` meets in a forward run, with numbers between 0.3 and 1.3 for the gradients."""
    needed = here.graph.ancestors([op.name])
    graph = Graph.of(o for o in here.graph if o.name in needed)
    outputs = [ref for ref in outputs_of(graph, types, op.name) if types[ref].dtype.is_floating]
    sources = _sources([op])
    values = evaluate_all(evaluate, graph, [*sources, *outputs], here.given)
    results = zip(outputs, values[len(sources) :], strict=True)
    return _Met(op, values[: len(sources)], {y.index: _ramp(v) for y, v in results}, "")


def _ramp(like: np.ndarray) -> np.ndarray:
    return np.asarray(0.3 + np.arange(like.size) * 0.37 % 1).reshape(like.shape).astype(like.dtype)


def _checked(
    evaluate: Evaluator, here: Situation, met: _Met, most: int, second_order: bool
) -> NodeCheck | None:
    op, name = met.op, gradient_name(met.op, here.request.overrides)
    try:
        check = check_operation(
            evaluate, op, met.inputs, met.cotangents, here.request, here.functions,
            most, second_order, here.imported if met.arriving else None, met.wrapped,
        )  # fmt: skip
    except GradstepError as error:
        return NodeCheck(
            node=op.name, gradient=name, agrees=False, text=error.message, verdict="wrong"
        )
    return None if check is None else _told(op, met, check)


def _told(op: Operation, met: _Met, check: LocalCheck) -> NodeCheck:
    tensors = [
        check_tensor(finding, ref.short, op, index, check.gradient, order)
        for order, findings in ((1, check.findings), (2, check.second))
        for index, finding in findings.items()
        if (ref := op.inputs[index]) is not None
    ]
    is_other = check.cotangents is not met.cotangents
    fix, text = _explained(met, check)
    return NodeCheck(
        node=op.name,
        gradient=check.gradient,
        agrees=check.agrees,
        text=text,
        fix=fix,
        verdict=check.verdict.value,
        unseen=is_other and vanishes(met.cotangents) and not check.agrees,
        tensors=tensors,
    )


def _explained(met: _Met, check: LocalCheck) -> tuple[str, str]:
    """A gradient that the numbers support, and what is to be said."""
    if not met.cotangents or not met.arriving:
        return "", _plainly(check)
    cotangent = next(iter(check.cotangents.values()))
    names = [ref.short for ref in _sources([met.op])]
    fix = suggest(check, len(names), cotangent)
    if check.agrees:
        return fix, _plainly(check)
    factor = find_repeated_factor(check, names, met.inputs, cotangent)
    arriving = "" if check.gradient == met.op.type else met.arriving
    return fix, explain_check(check, arriving, factor, fix, _unlike(met, check))


def _unlike(met: _Met, check: LocalCheck) -> str:
    """A sentence of the cotangents that it was checked for, where others arrive."""
    if check.cotangents is met.cotangents:
        return ""
    if not vanishes(met.cotangents):
        return "Some of it is too small to tell anything: numbers of the others' size stand for it."
    size = largest(met.cotangents)
    held = f"at most {size:.2g}, which" if size else "0, which"
    return f"That is {held} tells nothing: numbers of order one stand for it."


def _plainly(check: LocalCheck) -> str:
    found = [(1, f) for f in check.findings.values()] + [(2, f) for f in check.second.values()]
    order, worst = next((n, f) for n, f in found if f.verdict is check.verdict)
    again = " differentiated again" if order == 2 else ""
    why = f" {worst.why[:1].upper()}{worst.why[1:]}." if worst.why else ""
    return f"The gradient '{check.gradient}' of {check.node}{again}: {worst.text}.{why}"


def check_tensor(
    finding: CheckResult,
    name: str,
    op: Operation | None = None,
    input: int = -1,
    gradient: str = "",
    order: int = 1,
) -> CheckedTensor:
    """A finding as a message."""
    return CheckedTensor(
        name=name,
        index=list(finding.index),
        analytic=finding.analytic,
        numeric=finding.numeric,
        difference=finding.difference,
        method=finding.method,
        verdict=finding.verdict.value,
        text=finding.text,
        node="" if op is None else op.name,
        type="" if op is None else op.type,
        input=input,
        gradient=gradient,
        order=order,
        looked_at=finding.looked_at,
        size=finding.size,
        why=finding.why,
    )
