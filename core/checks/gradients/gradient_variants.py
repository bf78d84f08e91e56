"""Answering CompareVariants: each gradient in all variants, and where they part from native."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.autodiff.check.finite_differences import (
    NumericGradient,
    agree,
    measure_gradients,
)
from gradstep.core.autodiff.check.frozen_values import add_draws, evaluate_alive
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.node_checks import node_checks
from gradstep.core.checks.gradients.parting_operation import (
    Flow,
    PartedWires,
    Parting,
    first_end,
    first_on_the_way,
    is_same,
)
from gradstep.core.checks.gradients.request_variants import RequestVariants
from gradstep.core.checks.gradients.variant_cells import NUMERIC, make_cell, make_numeric_cell
from gradstep.core.checks.gradients.variant_sentences import VARIANTS, say_where_they_part
from gradstep.core.debug.history.frozen_program import name_of
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import GradientVariants, VariantCell, VariantRow
from gradstep.core.protocol.vocabulary import VariantName

_WRONG = (Verdict.WRONG.value, Verdict.DEFECT.value)

Gradients = Mapping[TensorRef, "np.ndarray | None"]


def compare_variants(
    evaluate: Evaluator, here: Sequence[Situation], elements: int = 0
) -> GradientVariants:
    """Of everything that is differentiated. elements: see CompareVariants. Raises GradstepError
    where nothing is asked for, or a native gradient cannot be computed."""
    asked = [each for each in here if each.request.of and each.request.wrt]
    if not asked:
        raise GradstepError(
            "no gradient is asked for",
            kind="ValueError",
            hint="choose what to differentiate, and with respect to what",
        )
    comparisons = [Comparison(evaluate, each, elements // len(asked)) for each in asked]
    rows = [row for one in comparisons for row in one.rows()]
    errors = {name: text for one in comparisons for name, text in one.errors.items()}
    return GradientVariants(rows=rows, errors=errors, text=say_where_they_part(rows, errors))


class Comparison:
    """The variants of one request. errors: why some could not be computed."""

    def __init__(self, evaluate: Evaluator, here: Situation, elements: int) -> None:
        drawn = add_draws(evaluate, here.graph, here.request, here.given)  # the same in all of them
        self._evaluate, self._here = evaluate, replace(here, given=drawn)
        self._wrt = [*dict.fromkeys(here.request.wrt)]
        self._variants = RequestVariants(self._here)
        self._most = max(1, elements // len(self._wrt)) if elements else 0
        self._flows: dict[int, Flow] = {}
        self._parted: dict[int, PartedWires] = {}
        self.errors: dict[str, str] = {}
        self._native_flow = self._flow("native")
        self._native: Gradients = self._native_flow.gradients(self._wrt)

    def rows(self) -> list[VariantRow]:
        """A row for each tensor, with its cells in the order of VARIANTS."""
        columns = [column for name in VARIANTS if (column := self._try(name)) is not None]
        of = name_of(self._here.request.of)
        found = {ref: [column[ref] for column in columns if ref in column] for ref in self._wrt}
        return [
            VariantRow(of=of, wrt=ref.short, size=_size(cells), cells=cells)
            for ref, cells in found.items()
        ]

    def _try(self, name: VariantName) -> Mapping[TensorRef, VariantCell] | None:
        try:
            if name != NUMERIC:
                return self._column(name)
            return self._numeric_column() if self._most else None
        except GradstepError as error:
            self.errors[name] = error.message
            return None

    def _column(self, name: VariantName) -> Mapping[TensorRef, VariantCell]:
        flow = self._flow(name)
        same = flow is self._native_flow
        found = self._native if same else flow.gradients(self._wrt)
        return {ref: self._cell(name, ref, flow, found[ref]) for ref in self._wrt}

    def _flow(self, name: VariantName) -> Flow:
        derived = self._variants.derive(name)
        if id(derived) not in self._flows:
            given, graph = self._here.given, self._variants.graph
            self._flows[id(derived)] = Flow(self._evaluate, graph, derived, given)
        return self._flows[id(derived)]

    def _cell(
        self, name: VariantName, ref: TensorRef, flow: Flow, value: np.ndarray | None
    ) -> VariantCell:
        native = self._native[ref]
        if is_same(native, value):
            return make_cell(name, value, native)
        return make_cell(name, value, native, False, self._wires(flow).first(ref))

    def _wires(self, flow: Flow) -> PartedWires:
        if id(flow) not in self._parted:
            wires = PartedWires(self._variants.graph, self._native_flow, flow)
            self._parted[id(flow)] = wires
        return self._parted[id(flow)]

    def _numeric_column(self) -> Mapping[TensorRef, VariantCell]:
        """By differences of the loss, without stops; of tensors that are computed, too, one by one:
        what is computed from them follows, what they are computed from stays."""
        measured = self._measure()
        wrong = {r: not agree(self._native[r], n).all() for r, n in measured.items()}
        nodes = self._wrong_nodes() if any(wrong.values()) else {}
        return {
            ref: make_numeric_cell(
                self._native[ref],
                n,
                not wrong[ref],
                self._blamed(ref, nodes) if wrong[ref] else None,
            )
            for ref, n in measured.items()
        }

    def _blamed(self, ref: TensorRef, nodes: Mapping[str, str]) -> Parting:
        """Why the numbers say something else."""
        graph = self._variants.graph
        found = first_on_the_way(graph, ref, nodes)
        return found if found.node else first_end(graph, self._native_flow, ref)

    def _measure(self) -> dict[TensorRef, NumericGradient]:
        request = self._native_flow.derived.request
        given, graph = self._here.given, self._variants.bare
        computed = [ref for ref in self._wrt if ref not in given]
        values = evaluate_alive(self._evaluate, graph, computed, given)
        found: dict[TensorRef, NumericGradient] = {}
        for ref in self._wrt:
            point = {**given, **({ref: values[ref]} if ref in values else {})}
            if ref in point and kind_of(point[ref].dtype) in "fc":
                one = replace(request, wrt=(ref,))
                found |= measure_gradients(self._evaluate, graph, one, point, self._most)
        return found

    def _wrong_nodes(self) -> dict[str, str]:
        """Operations whose native gradient is not what differences of them alone say."""
        plain = self._native_flow.derived.request
        here = replace(self._here, request=plain, graph=self._variants.bare, imported=None)
        checks, _ = node_checks(self._evaluate, here, self._variants.bare)
        return {check.node: check.text for check in checks if check.verdict in _WRONG}


def _size(cells: Sequence[VariantCell]) -> int:
    return max((cell.looked_at for cell in cells), default=0)
