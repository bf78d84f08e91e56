"""Differences that are known, and why each is no fault of a device's; they are told even so."""

from __future__ import annotations

# Op type, element type -> why.
EXCUSES = {
    ("FusedBatchNorm", "float16"): "a mean that is a unit of the last place off, scaled up; "
    "TensorFlow has this one in float32 alone, and normalizes halves in float32",
}

# Example whose runs go another way there -> why.
RUNS = {
    "gather": "TensorFlow's rule for a GPU: a row out of range is zeros, and no error",
    "gather_nd": "the same",
    "hessian_vector_product": "a sum of float64 in another order, 1e-13 off",
}
