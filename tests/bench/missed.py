"""Of targets that were missed: why, and what was tried. Printed only where they still are."""

from __future__ import annotations

from collections.abc import Mapping

_SMALL = (
    "Two variables make two Adam steps of 19 calls each, where the hand-written program has one "
    "flat vector: a pass that lays variables and their slots side by side is missing. Lists of "
    "bound calls instead of kernels, constants from shapes, and products with ones left out "
    "brought it from 4.6 to 2.2."
)
_ROWS = (
    "Rows are added one after another (`numpy.add.at`), which gives TensorFlow's bits. Sorting "
    "and `add.reduceat` takes a fifth of the time and gives other bits; adding the first, the "
    "second, … row of each place in turn gives the same bits and takes nine tenths."
)
_COMPILE = (
    "Types are inferred anew for every use of the graph, and nothing is kept from one request to "
    "the next. Memory is handed out in linear time now; inference is half of what is left."
)
_BLOCKS = (
    "The whole chain runs block by block, one bound call an operation and block: what is left are "
    "NumPy's own passes over each block."
)

# Name of a row -> its explanation, a sentence or more.
NOTES: Mapping[str, str] = {
    "W1 tutorial net: plan / hand-written NumPy": _SMALL,
    "W1 tutorial net: plan / PyTorch eager": _SMALL,
    "W1 tutorial net: plan / TF1 session": _SMALL,
    "W1 tutorial net: plan / JAX jit": _SMALL,
    "W7f memory-bound, forward: plan / PyTorch eager": _BLOCKS,
    "W8 embedding gradient: plan / PyTorch eager": _ROWS,
    "W8 embedding gradient: plan / PyTorch sparse coalesced": _ROWS,
    "differentiate + compile 10,000 ops, recorded plan": _COMPILE,
    "differentiate + compile 10,000 ops, fast plan": _COMPILE,
    "recompile after toggling a stop, 10,000 ops": _COMPILE,
    "recompile after toggling an override, 10,000 ops": _COMPILE,
    "W2 1,000 elementwise ops: recorded plan / plan": (
        "The recorded plan makes one call a step, which for a kernel of several calls is a loop in "
        "Python, and never computes in place."
    ),
}
