"""What kind of arithmetic an op does, and so how far two right results of it may be apart."""

from __future__ import annotations

from typing import Literal

# exact:    moves, compares or chooses values: every system gives the same bits
# rounded:  one correctly rounded operation (+ - * / sqrt): the same bits, but for subnormals
# reducing: sums or multiplies many values, in an order that systems choose
# product:  a matrix product: reducing, and the factors may be rounded first (TF32)
# library:  functions that libraries approximate, and what is composed of several operations
Arithmetic = Literal["exact", "rounded", "reducing", "product", "library"]

_ROUNDED = frozenset("add subtract multiply true_divide sqrt square".split())
_APPROXIMATED = frozenset(
    "exp expm1 log log1p power sin cos tan sinh cosh tanh "
    "arcsin arccos arctan arctan2 arcsinh arccosh arctanh".split()
)


def arithmetic_of(ufunc: str | None) -> Arithmetic:
    """The class of an op that is this one function, or (None) of one that says nothing."""
    if ufunc in _ROUNDED:
        return "rounded"
    return "library" if ufunc is None or ufunc in _APPROXIMATED else "exact"
