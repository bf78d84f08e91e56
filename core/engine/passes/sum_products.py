"""Sums of products are one longer product: the gradient of weights that many steps share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from gradstep.core.engine.passes.matrix_stacks import LARGEST, Stacks
from gradstep.core.engine.passes.plan_additions import Additions
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure, live_out
from gradstep.core.engine.plan.steps import Step

FEWEST = 3  # terms; two are one addition


def sum_in_products(plan: Plan) -> Plan:
    """With one product in place of an AddN of products a_i^T b_i, of the a_i and the b_i one below
    the other, and one sum of rows in place of an AddN of such sums. Adding up the terms is what
    the product does, in another order."""
    return _Summing(plan).run()


class _Summing:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.additions = Additions(plan)
        self.stacks = Stacks(plan, self.additions)
        self.uses = Counter(v for step in plan.steps for v in step.reads) + Counter(live_out(plan))
        self.gone: set[Step] = set()

    def run(self) -> Plan:
        # Products first: their order is that of time, and the sums of rows follow it.
        for family in (_product, _rows):
            for at, step in enumerate(self.plan.steps):
                if step.op.type == "AddN" and is_pure(self.plan, step) and step not in self.gone:
                    for terms in self._terms(step, family):
                        self._together(at, step, terms)
        return self.additions.made(self.gone) if self.gone else self.plan

    def _terms(self, step: Step, family: Callable[[Plan, Step], Hashable]) -> Iterator[list[Step]]:
        """Terms of the sum that one step can make, if it makes all of them."""
        found: dict[Hashable, list[Step]] = {}
        for value in step.reads:
            maker = self.plan.maker(value)
            if maker is None or self.uses[value] != 1 or not is_pure(self.plan, maker):
                continue
            if (key := family(self.plan, maker)) is not None:
                found.setdefault(key, []).append(maker)
        for terms in found.values():
            if len(terms) == len(step.reads) >= FEWEST and self._fits(terms):
                yield terms

    def _fits(self, terms: Sequence[Step]) -> bool:
        shapes = [self.plan.values[v].type.shape.static() for t in terms for v in t.reads[:2]]
        return sum(s[0] * s[-1] for s in shapes if s) <= LARGEST

    def _together(self, at: int, step: Step, terms: list[Step]) -> None:
        first = terms[0]
        matrices = 2 if first.op.type == "MatMul" else 1
        terms.sort(key=lambda term: self._time(term.reads[0]))
        columns = [[term.reads[i] for term in terms] for i in range(matrices)]
        if matrices == 1:
            columns = [[*self.stacks.order(columns[0])]]
        reads = [self.stacks.of(column) for column in columns]
        self.additions.add(
            at,
            first.op.type,
            (*reads, *first.reads[matrices:]),
            writes=step.writes,
            attrs=first.op.attrs,
            also=[step.op.name, *(name for t in terms for name in (t.op.name, *t.also))],
        )
        self.gone.update((step, *terms))

    def _time(self, value: int) -> tuple[int, int]:
        """When the value is made."""
        maker = self.plan.maker(value)
        return self.plan.made_by[value], 0 if maker is None else maker.writes.index(value)


def _product(plan: Plan, step: Step) -> Hashable:
    """What products a^T b have in common that may be one; None for another step."""
    attrs = step.op.attrs
    able = step.op.type == "MatMul" and attrs.get("transpose_a") and not attrs.get("transpose_b")
    return "MatMul" if able and _are_matrices(plan, step.reads) else None


def _rows(plan: Plan, step: Step) -> Hashable:
    """The same of sums of the rows of a matrix."""
    if step.op.type != "BiasAddGrad" or not _are_matrices(plan, step.reads):
        return None
    return step.op.type


def _are_matrices(plan: Plan, values: Sequence[int]) -> bool:
    kinds = [plan.values[v].type.shape for v in values]
    return all(k.rank == 2 and k.is_static for k in kinds)
