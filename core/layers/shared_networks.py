"""Blocks that apply a network of the graph again: perceptual loss, data-parallel towers."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.layers.block_settings import Setting, choice, flag, whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.layers.network_reuse import NETWORK, Network
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call

_NETWORK = Setting(
    "", "a scope, or the tensors that it ends in, separated by commas", names=NETWORK
)


@block(
    "perceptual_loss",
    "image:float32[1,4,4,2] target:float32[1,4,4,2]",
    "How far a network's features of an image are from those of a target. The network is copied "
    "for each of them and shares its weights. Source: Johnson et al. 2016, arXiv:1603.08155.",
    network=_NETWORK,
    distance=choice("of features", "squared", "absolute"),
    stop_target=flag(True, "whether the target's features are held still"),
)
def perceptual_loss(
    image: Tensor, target: Tensor, network: Network, distance: str, stop_target: bool
) -> Outputs:
    """The sum over the network's outputs of the mean distance."""
    of_target = network([target], "target_features")
    of_image = network([image], "features")
    if stop_target:
        of_target = [tf.stop_gradient(y) for y in of_target]
    measure = tf.square if distance == "squared" else tf.abs
    apart = [tf.reduce_mean(measure(x - y)) for x, y in zip(of_image, of_target, strict=True)]
    return tf.add_n(apart) if len(apart) > 1 else apart[0]


@block(
    "towers",
    "inputs:float32[4,4] labels?:float32[4,3]",
    "A batch in equal parts, each through a copy of the network with the same weights; the "
    "gradient of a weight is the sum of what the towers give. With means per tower that is as "
    "many times the gradient of the whole batch's mean. Source: TensorFlow 1's multi-GPU tutorial.",
    network=_NETWORK,
    towers=whole(2, "how many", least=2),
    combine=choice("what becomes of their outputs", "concatenate", "sum", "mean"),
)
def towers(
    inputs: Tensor, labels: Tensor | None, network: Network, towers: int, combine: str
) -> Outputs:
    """inputs, labels [towers * n, …]: what the network reads, in its own order. A network that
    ends in a loss gives numbers, to be added up or averaged."""
    batches = [inputs] if labels is None else [inputs, labels]
    parts = zip(*(tf.split(batch, towers, axis=0) for batch in batches), strict=True)
    given = [network(part, f"tower_{i}") for i, part in enumerate(parts)]
    return [_combined(outputs, combine) for outputs in zip(*given, strict=True)]


def _combined(parts: Sequence[Tensor], how: str) -> Outputs:
    if how == "concatenate":
        return tf.concat(parts, 0)
    total = call("AddN", *parts)
    return total if how == "sum" else total * (1.0 / len(parts))
