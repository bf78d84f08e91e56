"""Blocks of reinforcement learning: the policy gradient's surrogate, the loss of a DQN."""

from __future__ import annotations

from gradstep.core.layers.block_settings import choice, flag, number
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor

_CHOICES = "logits:float32[3,2] actions:int32[3] advantages:float32[3]"


@block(
    "policy_gradient",
    _CHOICES,
    "Its gradient is the policy gradient -mean(∇log π(a) A), for actions drawn from this very "
    "policy. Source: Williams 1992 (REINFORCE); as a ratio, Kakade and Langford 2002.",
    form=choice("the same gradient: of the log-likelihood, or of its ratio to itself, stopped",
                "log_likelihood", "ratio"),
)  # fmt: skip
def policy_gradient(logits: Tensor, actions: Tensor, advantages: Tensor, form: str) -> Outputs:
    """logits [n, actions], actions [n] of int, advantages [n]. The advantages are no function of
    the policy: no gradient goes to them."""
    likelihood = log_likelihood(logits, actions)
    if form == "ratio":
        likelihood = tf.exp(likelihood - tf.stop_gradient(likelihood))
    return -tf.reduce_mean(likelihood * tf.stop_gradient(advantages))


@block(
    "policy_gradient_surrogate",
    f"{_CHOICES} old_log_likelihood:float32[3]",
    "-mean(π(a) / π_old(a) A): the policy gradient with actions of an older policy, whose "
    "log-likelihoods are data. Source: Schulman et al. 2015 (TRPO) and 2017 (PPO), "
    "arXiv:1707.06347.",
    clip=number(0.0, "how far the ratio may leave 1 and still gain (PPO's epsilon); 0: anything",
                least=0),
)  # fmt: skip
def policy_gradient_surrogate(
    logits: Tensor, actions: Tensor, advantages: Tensor, old_log_likelihood: Tensor, clip: float
) -> Outputs:
    """Shapes as for policy_gradient; old_log_likelihood [n]."""
    old, gain = tf.stop_gradient(old_log_likelihood), tf.stop_gradient(advantages)
    ratio = tf.exp(log_likelihood(logits, actions) - old)
    if not clip:
        return -tf.reduce_mean(ratio * gain)
    clipped = tf.clip_by_value(ratio, 1.0 - clip, 1.0 + clip)
    return -tf.reduce_mean(tf.minimum(ratio * gain, clipped * gain))


def log_likelihood(logits: Tensor, actions: Tensor) -> Tensor:
    """log π(action) of each row, [n]."""
    loss: Tensor = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
    return -loss


@block(
    "dqn_loss",
    "q:float32[3,2] actions:int32[3] rewards:float32[3] next_q:float32[3,2] done:float32[3]",
    "How far Q(s, a) is from r + gamma max Q(s', a'), which is held still. Source: Mnih et al. "
    "2015, Human-level control through deep reinforcement learning.",
    gamma=number(0.99, "how much the future counts", least=0),
    loss=choice("of each difference", "huber", "squared"),
    stop_target=flag(True, "no: the gradient goes through the target, too, which is the bug"),
)
def dqn_loss(
    q: Tensor,
    actions: Tensor,
    rewards: Tensor,
    next_q: Tensor,
    done: Tensor,
    gamma: float,
    loss: str,
    stop_target: bool,
) -> Outputs:
    """q, next_q [n, actions]; actions [n] of int; rewards, done [n], done 1 where it ended."""
    chosen = tf.gather(q, tf.expand_dims(actions, 1), batch_dims=1)
    best = tf.reduce_max(next_q, axis=1)
    target = rewards + gamma * (1.0 - done) * best
    if stop_target:
        target = tf.stop_gradient(target)
    error = tf.squeeze(chosen, [1]) - target
    if loss == "squared":
        return tf.reduce_mean(tf.square(error))
    size = tf.abs(error)
    quadratic = tf.minimum(size, 1.0)
    return tf.reduce_mean(0.5 * tf.square(quadratic) + (size - quadratic))
