"""`tf.nn.rnn_cell`: cells made of cells, on top of each other or with dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_activations import dropout
from gradstep.core.ops.api.tf_rnn_cells import RNNCell, State
from gradstep.core.ops.api.tf_scopes import Scope, variable_scope
from gradstep.core.ops.build.tensor import Tensor, TensorLike


class MultiRNNCell(RNNCell):
    """Cells on top of each other: each reads what the one below gives. The state is a tuple."""

    default_name = "multi_rnn_cell"

    def __init__(self, cells: Sequence[RNNCell], name: Scope = None) -> None:
        super().__init__(name)
        self._cells = tuple(cells)

    @property
    def state_size(self) -> Any:
        return tuple(cell.state_size for cell in self._cells)

    @property
    def output_size(self) -> int:
        return self._cells[-1].output_size

    def build(self, depth: int, dtype: DType) -> None:
        for number, cell in enumerate(self._cells):
            below = depth if number == 0 else self._cells[number - 1].output_size
            with variable_scope(f"cell_{number}", auxiliary_name_scope=False):
                cell.prepare(below, dtype)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        after = []
        for number, (cell, own) in enumerate(zip(self._cells, state, strict=True)):
            with x.builder.scope(f"cell_{number}"):
                x, new = cell(x, own)
            after.append(new)
        return x, tuple(after)


class DropoutWrapper(RNNCell):
    """A cell whose inputs and outputs are dropped at random, anew in every step."""

    default_name = "dropout_wrapper"

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: TensorLike = 1.0,
        output_keep_prob: TensorLike = 1.0,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self._cell = cell
        self._keep = input_keep_prob, output_keep_prob
        self._seed = seed

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> int:
        return self._cell.output_size

    def prepare(self, depth: int, dtype: DType) -> None:
        self._cell.prepare(depth, dtype)

    def build(self, depth: int, dtype: DType) -> None:
        """It has no weights of its own."""

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        y, after = self._cell(dropout(x, self._keep[0], seed=self._seed), state)
        return dropout(y, self._keep[1], seed=self._seed), after


VALUES: dict[str, Any] = {
    f"nn.rnn_cell.{kind.__name__}": kind for kind in (MultiRNNCell, DropoutWrapper)
}
