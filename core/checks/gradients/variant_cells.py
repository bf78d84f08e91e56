"""The cells of the what-if table: one gradient in one variant, next to the native one."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.check.finite_differences import NumericGradient
from gradstep.core.checks.gradients.parting_operation import Parting
from gradstep.core.protocol.messages import VariantCell
from gradstep.core.protocol.vocabulary import VariantName

NUMERIC: VariantName = "numeric"
_SHOWN = 4  # elements of a preview


def make_cell(
    name: VariantName,
    value: np.ndarray | None,
    native: np.ndarray | None,
    same: bool = True,
    parting: Parting | None = None,
) -> VariantCell:
    """same: as the native gradient; parting: where it is not."""
    at = parting or Parting()
    return VariantCell(
        variant=name,
        norm=None if value is None else _norm(value),
        preview="" if value is None else _preview(value),
        same=same,
        difference=_difference(value, native),
        looked_at=0 if value is None else value.size,
        node=at.node,
        type=at.type,
        why=at.why,
    )


def make_numeric_cell(
    native: np.ndarray | None, numeric: NumericGradient, same: bool, parting: Parting | None
) -> VariantCell:
    """Of the elements that were measured."""
    seen = numeric.looked_at
    if seen.all():
        return make_cell(NUMERIC, numeric.value, native, same, parting)
    return make_cell(
        NUMERIC, numeric.value[seen], None if native is None else native[seen], same, parting
    )


def _norm(value: np.ndarray) -> float:
    with np.errstate(all="ignore"):  # infinities
        return float(np.linalg.norm(np.asarray(value, np.complex128)))


def _difference(value: np.ndarray | None, native: np.ndarray | None) -> float | None:
    if value is None or native is None:
        return None
    with np.errstate(all="ignore"):  # infinities
        off = _norm(np.asarray(value, np.complex128) - np.asarray(native, np.complex128))
    whole = _norm(native)
    return off / whole if whole else (0.0 if off == 0 else float("inf"))


def _preview(value: np.ndarray) -> str:
    texts = [f"{x + 0.0:.4g}" for x in value.ravel()[:_SHOWN].tolist()]
    more = ", …" if value.size > _SHOWN else ""
    return f"[{', '.join(texts)}{more}]" if value.ndim else texts[0]
