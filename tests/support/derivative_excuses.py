"""What the table's checks of derivatives leave out, and why;
tests/core/ops/catalogue/test_derivatives.py sees that each excuse is needed, and that nothing else
is left out."""

from __future__ import annotations

_OTHERS_AS_GIVEN = "TensorFlow's rule goes through output 0 and takes the others as given"
_NO_GRADIENT_OP = "its gradient op has no gradient, as in TensorFlow: a LookupError"

# Only the first output is differentiated.
ONLY_FIRST_OUTPUT = {
    "SoftmaxCrossEntropyWithLogits": _OTHERS_AS_GIVEN,
    "FusedBatchNorm": _OTHERS_AS_GIVEN,
    "FusedBatchNormV2": _OTHERS_AS_GIVEN,
    "FusedBatchNormV3": _OTHERS_AS_GIVEN,
}

# The second derivative is looked at for the first input only.
SECOND_ONLY_FOR_FIRST_INPUT = {
    "SoftmaxCrossEntropyWithLogits": "TensorFlow's second derivative takes what the rule gives for "
    "the labels as no function of them",
}

# Type -> inputs that get None although there is a derivative, and why.
WITHOUT_DERIVATIVE = {
    "Betainc": ((0, 1), "TensorFlow gives none for the shapes"),
    "PadV2": ((2,), "TensorFlow gives none for the padding's value"),
    "Polygamma": ((0,), "TensorFlow gives none for the order"),
    "Zeta": ((0,), "TensorFlow gives none for the exponent"),
}

# There is no second derivative at all.
NO_SECOND_DERIVATIVE = {
    "Igamma": _NO_GRADIENT_OP,
    "Igammac": _NO_GRADIENT_OP,
    "LRN": _NO_GRADIENT_OP,
    "MaxPoolGradV2": _NO_GRADIENT_OP,
    "ResizeNearestNeighbor": _NO_GRADIENT_OP,
    "Softsign": _NO_GRADIENT_OP,
    "SparseSegmentMean": _NO_GRADIENT_OP,
    "SparseSegmentMeanWithNumSegments": _NO_GRADIENT_OP,
    "SparseSegmentSqrtN": _NO_GRADIENT_OP,
    "SparseSegmentSqrtNWithNumSegments": _NO_GRADIENT_OP,
    "SparseSegmentSum": _NO_GRADIENT_OP,
    "SparseSegmentSumWithNumSegments": _NO_GRADIENT_OP,
}

_MEAN_AS_GIVEN = "the mean and variance of x are inputs of their own, which differences of x miss"
_A_VARIABLE = "it reads a variable, which is no tensor to nudge"

# No sample can be held against differences; what is tested in their place.
NOT_AGAINST_DIFFERENCES = {
    "BatchMatMulV3": "its samples are whole numbers; of others it is BatchMatMulV2",
    "Cholesky": "its gradient is that of a symmetric matrix, half at each of two places",
    "FakeQuantWithMinMaxArgs": "a staircase that is differentiated as if it were a slope",
    "FusedBatchNormGrad": _MEAN_AS_GIVEN,
    "FusedBatchNormGradV2": _MEAN_AS_GIVEN,
    "FusedBatchNormGradV3": _MEAN_AS_GIVEN,
    "ReadVariableOp": _A_VARIABLE,
    "ResourceGather": _A_VARIABLE,
    "ResourceGatherNd": _A_VARIABLE,
}
