"""The Jacobian of one operation: each element of its outputs by each element of its inputs.

By the gradient rule in force, a row at a time, and beside it by finite differences, which say of
each entry whether the rule is right there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.autodiff.check.analytic_gradients import evaluate_gradients
from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.autodiff.check.frozen_values import Evaluate, Point, add_draws, evaluate_all
from gradstep.core.autodiff.check.op_gradcheck import attribute_defects
from gradstep.core.autodiff.check.tensor_gradcheck import examine
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.cancellation import check_cancelled
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.tensor_type_dict import outputs_of

MEASURED = 4096  # entries, of all inputs together, that finite differences are made for
MOST_ROWS, MOST = 1024, 1 << 20  # rows and entries that the rule is asked for
_RANK = {verdict: rank for rank, verdict in enumerate(Verdict)}


@dataclass(frozen=True, eq=False)
class JacobianBlock:
    """Of output number `output` by input number `input`; shapes: theirs. rule: float64[m, n], m
    elements of the output by n of the input; zeros where the rule gives no gradient. numeric:
    the same by differences, verdicts: int8[m, n], the place of each entry's verdict in Verdict;
    None where there were too many to be measured."""

    output: int
    input: int
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    rule: np.ndarray
    numeric: np.ndarray | None = None
    verdicts: np.ndarray | None = None

    @property
    def wrong(self) -> int:
        """How many entries are not what the numbers say."""
        return 0 if self.verdicts is None else int((self.verdicts == _RANK[Verdict.WRONG]).sum())


def local_jacobian(
    evaluate: Evaluate,
    op: Operation,
    inputs: Sequence[np.ndarray],
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    row_done: Callable[[int, int], None] = lambda done, total: None,
    outputs: Collection[int] | None = None,
) -> list[JacobianBlock]:
    """At these `inputs`; what `request` overrides is in force. row_done: told after each row.
    outputs: of which it is asked; None: of all. Raises GradstepError where there is none: no
    floating-point tensors, too many, a rule that fails."""
    alone = _Alone.of(evaluate, op, inputs, outputs)
    rows = sum(y.size for y in alone.outputs.values())
    entries = rows * sum(inputs[i].size for i in alone.floats)
    if rows > MOST_ROWS or entries > MOST:
        raise GradstepError(
            f"the Jacobian of '{op.name}' has {rows:,} rows and {entries:,} entries",
            kind="ValueError",
            node=op.name,
            hint=f"it is shown up to {MOST_ROWS:,} rows and {MOST:,} entries; feed a smaller batch",
        )
    made = _Rows(evaluate, alone, request, functions, entries <= MEASURED)
    blocks, done = list[JacobianBlock](), 0
    for index, value in alone.outputs.items():
        found = []
        for element in range(value.size):
            check_cancelled()
            found.append(made.row(index, element))
            done += 1
            row_done(done, rows)
        blocks += _blocks(alone, index, found)
    return blocks


@dataclass(frozen=True, eq=False)
class _Alone:
    """An operation between placeholders, and what is asked for of each output. floats: the inputs
    that it has a Jacobian by; outputs: those that have one, with their values."""

    op: Operation
    graph: Graph
    holes: Sequence[TensorRef]
    point: Point
    floats: Sequence[int]
    outputs: Mapping[int, np.ndarray]

    @classmethod
    def of(
        cls,
        evaluate: Evaluate,
        op: Operation,
        inputs: Sequence[np.ndarray],
        wanted: Collection[int] | None,
    ) -> _Alone:
        made = [_hole(i, x) for i, x in enumerate(inputs)]
        holes = [hole.output() for hole in made]
        made.append(replace(op, inputs=tuple(holes), control_inputs=()))
        graph = Graph.of(made)
        point = {hole: x for hole, x in zip(holes, inputs, strict=True) if kind_of(x.dtype) in "fc"}
        floats = [i for i, x in enumerate(inputs) if kind_of(x.dtype) == "f"]
        types = infer_declared(graph).types
        made_of = outputs_of(graph, types, op.name)
        asked = [ref for ref in made_of if wanted is None or ref.index in wanted]
        refs = [ref for ref in asked if types[ref].dtype.is_floating]
        if not floats or not refs:
            raise GradstepError(
                f"'{op.name}' ({op.type}) has no floating-point inputs and outputs",
                kind="ValueError",
                node=op.name,
                hint="choose an operation that computes with floating-point tensors",
            )
        values = evaluate_all(evaluate, graph, refs, point)
        outputs = {ref.index: y for ref, y in zip(refs, values, strict=True)}
        return cls(op, Graph.of([*made, *_weighted(op, outputs)]), holes, point, floats, outputs)


def _hole(index: int, x: np.ndarray) -> Operation:
    kind, name = DType.of(x.dtype), f"jacobian/in{index}"
    if kind_of(x.dtype) in "fc":
        return Operation(name, "Placeholder", attrs={"dtype": kind, "shape": Shape(x.shape)})
    return Operation(name, "Const", attrs={"value": Constant(x), "dtype": kind})


def _weighted(op: Operation, outputs: Mapping[int, np.ndarray]) -> list[Operation]:
    made = []
    for index, y in outputs.items():
        wanted = {"dtype": DType.BOOL, "shape": Shape(y.shape)}
        made.append(Operation(f"jacobian/w{index}", "Placeholder", attrs=wanted))
        # Chosen, and not multiplied: 0 times an infinity would be NaN in every other row.
        nothing = {"value": Constant(np.zeros_like(y)), "dtype": DType.of(y.dtype)}
        made.append(Operation(f"jacobian/zero{index}", "Const", attrs=nothing))
        parts = made[-2].output(), op.output(index), made[-1].output()
        made.append(Operation(f"jacobian/y{index}", "SelectV2", parts))
    return made


_Row = Mapping[int, tuple[np.ndarray, np.ndarray | None, np.ndarray | None]]


class _Rows:
    """Makes rows, each by input: what the rule gives, what is measured, and the verdicts."""

    def __init__(
        self,
        evaluate: Evaluate,
        alone: _Alone,
        request: GradientRequest,
        functions: Mapping[str, GradientFunction],
        measured: bool,
    ) -> None:
        self._evaluate, self._alone, self._functions = evaluate, alone, functions
        self._measured = measured
        self._known: dict[int, Differentiation] = {}
        wrt = tuple(alone.holes[i] for i in alone.floats)
        self._request = replace(
            request, wrt=wrt, stops=frozenset(), stopped_edges=frozenset(), grad_ys=()
        )

    def row(self, output: int, element: int) -> _Row:
        alone = self._alone
        asked = replace(self._request, of=(TensorRef(f"jacobian/y{output}"),))
        point = {**alone.point, **self._weights(output, element)}
        if self._measured:
            return self._examined(asked, point)
        return self._derived(asked, point, output)

    def _weights(self, output: int, element: int) -> dict[TensorRef, np.ndarray]:
        """True for the element, False for all others, those of other outputs too."""
        found = {}
        for index, y in self._alone.outputs.items():
            weight = np.zeros(y.shape, bool)
            if index == output:
                weight.reshape(-1)[element] = True
            found[TensorRef(f"jacobian/w{index}")] = weight
        return found

    def _examined(self, asked: GradientRequest, point: Point) -> _Row:
        alone = self._alone
        found = examine(self._evaluate, alone.graph, asked, point, self._functions)
        by_input = {i: found[alone.holes[i]] for i in alone.floats}
        rows = {}
        for i, one in attribute_defects(alone.op, asked, by_input).items():
            verdicts = np.zeros(one.numeric.value.shape, np.int8)
            for index, verdict in one.finding.verdicts.items():
                verdicts[index] = _RANK[verdict]
            rows[i] = (
                _flat(one.own, one.numeric.value),
                one.numeric.value.ravel(),
                verdicts.ravel(),
            )
        return rows

    def _derived(self, asked: GradientRequest, point: Point, output: int) -> _Row:
        """By one differentiation for all rows of an output."""
        alone = self._alone
        point = add_draws(self._evaluate, alone.graph, asked, point)
        if output not in self._known:
            self._known[output] = differentiate(alone.graph, asked, self._functions)
        made = self._known[output]
        found = evaluate_gradients(
            self._evaluate, made.graph, asked, point, self._functions, made.gradients
        )
        return {
            i: (_flat(found[alone.holes[i]], point[alone.holes[i]]), None, None)
            for i in alone.floats
        }


def _flat(gradient: np.ndarray | None, like: np.ndarray) -> np.ndarray:
    value = np.zeros(like.shape) if gradient is None else np.asarray(gradient, np.float64)
    return np.broadcast_to(value, like.shape).ravel()


def _blocks(alone: _Alone, output: int, rows: Sequence[_Row]) -> list[JacobianBlock]:
    shape = alone.outputs[output].shape
    found = []
    for i in alone.floats:
        size = alone.point[alone.holes[i]].size
        parts = [_stacked([row[i][part] for row in rows], size) for part in range(3)]
        rule, numeric, verdicts = parts
        shapes = (shape, alone.point[alone.holes[i]].shape)
        rule = np.zeros((0, size)) if rule is None else rule
        found.append(JacobianBlock(output, i, shapes, rule, numeric, verdicts))
    return found


def _stacked(rows: Sequence[np.ndarray | None], size: int) -> np.ndarray | None:
    known = [row for row in rows if row is not None]
    return np.stack(known) if len(known) == len(rows) and known else None
