"""Which tensor of an imported VJP is the cotangent of which input of its operation.

A GraphDef does not say it. TensorFlow's rules make gradients in the order of the inputs, or pass on
what arrived; with `gate_gradients` each goes through an Identity of its own. What is found so has
to fit: its type, and who reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations

from gradstep.core.autodiff.recognition.gradient_scope import GradientScope
from gradstep.core.autodiff.recognition.vjp_reach import Reach
from gradstep.core.autodiff.reverse.contributions import Slices
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes

Found = TensorRef | Slices
_MOST = 5  # inputs whose gradients are tried in every order
_GATED = "_grad/tuple/control_dependency"
_COLLECTS = frozenset({"Reshape", "Merge", "Exit"})  # op types that give the numbers of rows


class Pairing:
    """Of one gradient scope. types: of all tensors of its graph; passes: whether the rule of an
    operation passes on to an input what arrives."""

    def __init__(
        self, scope: GradientScope, types: TensorTypes, passes: Callable[[Operation, int], bool]
    ) -> None:
        self._scope, self._types, self._passes = scope, types, passes
        self._reach = Reach(scope, types)

    def pairs(
        self, op: Operation, inputs: Sequence[int], arrived: Found, known: bool
    ) -> dict[int, Found]:
        """inputs: those of `op` that have a gradient; arrived: the gradient of its output; known:
        whether Gradstep knows its rule. Input -> what flows back over it; an input that cannot be
        told is left out."""
        made = self._made(op)
        if not known and op.type == "IdentityN":  # of tf.custom_gradient: results, then arguments
            inputs = inputs[len(inputs) - len(made) :]
        passing = len(inputs) - len(made)
        if passing == 0:
            found = self._in_order(op, inputs, made)
        else:
            found = self._passing_on(op, inputs, made, arrived, passing) if passing > 0 else None
        return found if found is not None else self._only_ways(op, inputs, made)

    def rows(self, op: Operation) -> Slices | None:
        """What the VJP of an operation that takes rows has made: the rows' gradients, and which
        rows they are."""
        ends = [*self._ends(op)]
        values = [ref for ref in ends if self._is_float(ref)]
        indices = [ref for ref in ends if self._is_index(ref)]
        # TensorFlow makes values, indices and the shape of the whole in this order; indices first
        # where a loop has collected them.
        return Slices(values[0], indices[0]) if len(values) == 1 and indices else None

    # -- what a VJP made -----------------------------------------------------------------------

    def _made(self, op: Operation) -> list[TensorRef]:
        """The gradients, in the order in which they were made."""
        gated = [o.output() for o in self._scope.vjps[op.name] if _GATED in o.name]
        if gated:
            return gated
        ends = [ref for ref in self._ends(op) if self._is_float(ref)]
        makers = {ref.op for ref in ends}
        if len(makers) == 1:  # one operation for several inputs, of which some may be of no use
            (maker,) = makers
            return [ref for ref in self._outputs(maker) if self._is_float(ref)] or ends
        return ends

    def _ends(self, op: Operation) -> Iterator[TensorRef]:
        """Tensors of the VJP that something else reads, or that nothing does."""
        for made in self._scope.vjps[op.name]:
            outputs = self._outputs(made.name)
            readers = {ref: {*self._scope.find_readers(ref)} for ref in outputs}
            if any(readers.values()):
                yield from (ref for ref in outputs if readers[ref] - {op.name})
            else:
                yield from outputs[:1]

    def _outputs(self, name: str) -> list[TensorRef]:
        return [TensorRef(name, i) for i in range(len(self._types.of.get(name, ())))]

    def _is_float(self, ref: TensorRef) -> bool:
        kind = self._types.get(ref)
        return kind is not None and bool(kind.dtype.is_floating or kind.dtype.is_complex)

    def _is_index(self, ref: TensorRef) -> bool:
        kind = self._types.get(ref)
        made = self._scope.graph[ref.op].type
        return kind is not None and bool(kind.dtype.is_integer) and made in _COLLECTS

    # -- what fits -----------------------------------------------------------------------------

    def _in_order(
        self, op: Operation, inputs: Sequence[int], made: Sequence[TensorRef]
    ) -> dict[int, Found] | None:
        """One for each: in the order in which they were made, or in the only other that fits."""
        if self._all_fit(op, inputs, made):
            return dict(zip(inputs, made, strict=True))
        if len(made) > _MOST:
            return None
        orders = [order for order in permutations(made) if self._all_fit(op, inputs, order)]
        return dict(zip(inputs, orders[0], strict=True)) if len(orders) == 1 else None

    def _passing_on(
        self,
        op: Operation,
        inputs: Sequence[int],
        made: Sequence[TensorRef],
        arrived: Found,
        count: int,
    ) -> dict[int, Found] | None:
        """So many of the inputs get what arrived, the others what the VJP has made: those to which
        Gradstep's rule would pass it on, or the only ones that fit."""
        usual = [tuple(i for i in inputs if self._passes(op, i))]
        choices = usual if len(inputs) > _MOST else [*usual, *combinations(inputs, count)]
        fitting: list[dict[int, Found]] = []
        for chosen in dict.fromkeys(choices):
            others = [i for i in inputs if i not in chosen]
            if (
                len(chosen) == count
                and all(self.fits(op, i, arrived) for i in chosen)
                and self._all_fit(op, others, made)
            ):
                fitting.append(
                    {**dict.fromkeys(chosen, arrived), **dict(zip(others, made, strict=True))}
                )
                if chosen == usual[0]:
                    return fitting[-1]
        return fitting[0] if len(fitting) == 1 else None

    def _all_fit(self, op: Operation, inputs: Sequence[int], made: Sequence[TensorRef]) -> bool:
        return all(self.fits(op, i, ref) for i, ref in zip(inputs, made, strict=True))

    def _only_ways(
        self, op: Operation, inputs: Sequence[int], made: Sequence[TensorRef]
    ) -> dict[int, Found]:
        """What fits one input, and nothing else does."""
        fitting = {i: [ref for ref in made if self.fits(op, i, ref)] for i in inputs}
        return {
            i: refs[0]
            for i, refs in fitting.items()
            if len(refs) == 1 and sum(refs[0] in other for other in fitting.values()) == 1
        }

    def fits(self, op: Operation, index: int, found: Found) -> bool:
        """Whether `found` can be what flows back over input `index` of `op`."""
        source = op.inputs[index]
        if isinstance(found, Slices):
            return source is not None
        ref = found
        if source is None or not self._reach.is_like(ref, source):
            return False
        readers = {*self._scope.find_readers(ref)} - {op.name}
        vjps = {name for name in readers if name in self._scope.vjps}
        if source.op in self._scope.vjps and not readers & {source.op, ""}:
            return False
        return vjps <= self._reach.vjps_behind(source.op)
