"""What PyTorch calls the operations of a graph: an expression for each type.

"{0}", "{1}" … are inputs, "{all}" all of them, "{name}" an attribute's value; "{i0}" the numbers of
an input that is known, such as axes, as a list. Gradients are PyTorch's own.
"""

from __future__ import annotations

from collections.abc import Mapping

_SAME = (
    "exp expm1 log log1p sqrt rsqrt tanh sigmoid relu abs sign floor ceil round sin cos tan asin "
    "acos atan sinh cosh asinh acosh atanh erf erfc square reciprocal neg isnan isinf isfinite "
    "lgamma digamma erfinv softplus elu selu"
)
_TF_NAMES = {
    "relu": "Relu", "neg": "Neg", "abs": "Abs", "isnan": "IsNan", "isinf": "IsInf",
    "isfinite": "IsFinite", "round": "Rint", "lgamma": "Lgamma", "digamma": "Digamma",
    "erfinv": "Erfinv", "softplus": "Softplus", "elu": "Elu", "selu": "Selu",
}  # fmt: skip
_OF_NN = ("softplus", "elu", "selu")

UNARY = {
    _TF_NAMES.get(name, name.capitalize()): (
        f"torch.nn.functional.{name}({{0}})" if name in _OF_NN else f"torch.{name}({{0}})"
    )
    for name in _SAME.split()
}
BINARY = {
    "AddV2": "{0} + {1}", "Add": "{0} + {1}", "Sub": "{0} - {1}", "Mul": "{0} * {1}",
    "RealDiv": "{0} / {1}", "Div": "{0} / {1}", "Pow": "{0} ** {1}",
    "Maximum": "torch.maximum({0}, {1})", "Minimum": "torch.minimum({0}, {1})",
    "SquaredDifference": "({0} - {1}) ** 2", "FloorDiv": "torch.floor_divide({0}, {1})",
    "FloorMod": "torch.remainder({0}, {1})", "Atan2": "torch.atan2({0}, {1})",
    "DivNoNan": "torch.where({1} == 0, torch.zeros_like({0} / 1), {0} / {1})",
    "MulNoNan": "torch.where({1} == 0, torch.zeros_like({0} * {1}), {0} * {1})",
    "Xdivy": "torch.where({0} == 0, {0} * 1, {0} / {1})",
    "Xlogy": "torch.special.xlogy({0}, {1})", "Xlog1py": "torch.special.xlog1py({0}, {1})",
    "Less": "{0} < {1}", "LessEqual": "{0} <= {1}", "Greater": "{0} > {1}",
    "GreaterEqual": "{0} >= {1}", "Equal": "{0} == {1}", "NotEqual": "{0} != {1}",
    "LogicalAnd": "{0} & {1}", "LogicalOr": "{0} | {1}", "LogicalNot": "~{0}",
}  # fmt: skip
REDUCING = {
    type: f"over(torch.{name}, {{0}}, {{i1}}, {{keep_dims}})"
    for type, name in (("Sum", "sum"), ("Mean", "mean"), ("Max", "amax"), ("Min", "amin"))
}
OTHERS = {
    "AddN": "sum([{all}][1:], [{all}][0])",
    "Identity": "{0}",
    "Snapshot": "{0}",
    "StopGradient": "{0}.detach()",
    "PreventGradient": "{0}.detach()",
    "ZerosLike": "torch.zeros_like({0})",
    "OnesLike": "torch.ones_like({0})",
    "MatMul": "({0}.T if {transpose_a} else {0}) @ ({1}.T if {transpose_b} else {1})",
    "BatchMatMulV2": "({0}.mH if {adj_x} else {0}) @ ({1}.mH if {adj_y} else {1})",
    "Softmax": "torch.softmax({0}, -1)",
    "LogSoftmax": "torch.log_softmax({0}, -1)",
    "LeakyRelu": "torch.nn.functional.leaky_relu({0}, {alpha})",
    "Relu6": "torch.nn.functional.relu6({0})",
    "Reshape": "torch.reshape({0}, {i1})",
    "Transpose": "torch.permute({0}, {i1})",
    "ExpandDims": "torch.unsqueeze({0}, {i1}[0])",
    "Tile": "torch.tile({0}, {i1})",
    "BroadcastTo": "torch.broadcast_to({0}, {i1})",
    "ReverseV2": "torch.flip({0}, {i1})",
    "Pack": "torch.stack([{all}], {axis})",
    "Slice": "{0}[tuple(slice(b, None if n < 0 else b + n) for b, n in zip({i1}, {i2}))]",
    "SelectV2": "torch.where({0}, {1}, {2})",
    "Select": "torch.where({0}, {1}, {2})",
    "ClipByValue": "torch.clamp({0}, {1}, {2})",
    "L2Loss": "torch.sum({0} ** 2) / 2",
    "UnsortedSegmentSum": "torch.zeros({i2} + list({0}.shape[1:]), dtype={0}.dtype)"
    ".index_add(0, {1}.long(), {0})",
    "SoftmaxCrossEntropyWithLogits": "-torch.sum({1} * torch.log_softmax({0}, -1), -1)",
    "BiasAdd": "{0} + {1}",
}
_NORM = (
    "batch_norm({0}, {1}, {2}, {3}, {4}, {epsilon}, {exponential_avg_factor}, {data_format}, "
    "{is_training})"
)
# What gives all outputs of an operation.
WHOLE: Mapping[str, str] = {
    "Split": "torch.tensor_split({1}, {num_split}, {i0}[0])",
    "SplitV": "pieces({0}, {i1}, {i2}[0])",
    "Unpack": "torch.unbind({0}, {axis})",
    "FusedBatchNorm": f"{_NORM}[:5]",
    "FusedBatchNormV2": f"{_NORM}[:5]",
    "FusedBatchNormV3": _NORM,
}
EXPRESSIONS: Mapping[str, str] = {**UNARY, **BINARY, **REDUCING, **OTHERS}
# PyTorch has a gradient of 0 where TensorFlow has none.
ZERO_IN_TORCH = frozenset(("Floor", "Ceil", "Rint", "Sign"))
