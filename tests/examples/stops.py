"""Examples of what must not learn: what stop_gradient stops, a target that stands still."""

from __future__ import annotations

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing
from tests.examples.expect import equal, gradient, value
from tests.support.oracle import array, case

GROUP = "Stops and targets"


def stop_gradient_paths() -> Document:
    """Numbers: TensorFlow's, `stop_gradient`."""
    seen = case("stop_gradient")
    d = Drawing()
    for scope in ("both", "one", "beside", "only"):
        with d.g.scope(scope):
            _path(d, scope)
    return d.document(
        "stop_gradient stops a way, not a variable",
        """
        A stop closes the way it stands on; what flows on other ways still arrives.

        - **both**: x·x, twice a way back: 2x.
        - **one**: x·stop(x). One factor counts as a constant: x.
        - **beside**: x + stop(x²). The way past the stop is open: 1.
        - **only**: stop(x²). No way is left: None, which is not zero.

        Press F5 and look at the four gradients.
        """,
        """
        both/x . . both/y both/loss
        . . . both/axes

        one/x one/stop . one/y one/loss
        . . . one/axes

        beside/x beside/square beside/stop beside/y beside/loss
        . . . beside/axes

        only/x only/square only/y . only/loss
        . . . only/axes
        """,
        of="both/loss one/loss beside/loss only/loss",
        wrt="both/x one/x beside/x only/x",
        fetches="both/y one/y",
        expectations=(
            equal('x["one/y"]', 'x["both/y"]', "A stop changes no value."),
            gradient("both/x", array(seen["x*x"]), "x·x has the gradient 2x."),
            gradient("one/x", array(seen["x*sg(x)"]), "x·stop(x) has the gradient x."),
            gradient("beside/x", array(seen["x + sg(x^2)"]), "x + stop(x²) has the gradient 1."),
            gradient("only/x", None, "stop(x²) alone has none."),
        ),
    )


def _path(d: Drawing, way: str) -> None:
    x = d.variable("x", [1, 2, -3])
    if way == "both":
        y = d.g.one("Mul", x, x, name="y")
    elif way == "one":
        y = d.g.one("Mul", x, d.g.one("StopGradient", x, name="stop"), name="y")
    else:
        square = d.g.one("Square", x, name="square")
        y = d.g.one("StopGradient", square, name="y" if way == "only" else "stop")
        if way == "beside":
            y = d.g.one("AddV2", x, y, name="y")
    d.sum(y, "loss")


def dqn_target() -> Document:
    """Numbers: TensorFlow 2.21's for this graph."""
    d = Drawing()
    given = (
        d.fed("state", [[1.0, 0.5], [-0.5, 2.0]]),
        d.fed("action", [[1, 0], [0, 1]]),
        d.fed("reward", [1.0, -1.0]),
        d.fed("next_state", [[0.5, 1.0], [1.5, -1.0]]),
        d.fed("going_on", [1.0, 1.0]),
    )
    for scope in ("stopped", "flowing"):
        with d.g.scope(scope):
            _q_learning(d, *given, stopped=scope == "stopped")
    return d.document(
        "The target of Q-learning must stand still",
        """
        A Q-network is trained towards a target that the same network computes.

        The target is r + γ·max Q(s′). **stopped** keeps it constant with stop_gradient, as DQN
        does; **flowing** forgets to, and also pulls the target towards the prediction.

        1. Press F5. Both losses are equal, the gradients of `stopped/weights` and
        `flowing/weights` are not.
        2. Select the wire from `flowing/target` to `flowing/error` and press S: now they are.
        """,
        of="stopped/loss flowing/loss",
        wrt="stopped/weights flowing/weights",
        fetches="stopped/loss flowing/loss",
        collapsed="stopped/taken stopped/future flowing/taken flowing/future",
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
        expectations=(
            value("stopped/loss", _DQN["loss"], "The loss with the target stopped."),
            value("flowing/loss", _DQN["loss"], "The loss is the same without the stop."),
            gradient("stopped/weights", _DQN["stopped"], "Only the prediction learns."),
            gradient("flowing/weights", _DQN["flowing"], "Prediction and target both move."),
        ),
    )


_DQN = {
    "loss": 3.0172498,
    "stopped": [[-1.17, -1.08], [-0.585, 4.32]],
    "flowing": [[-3.5595, -1.08], [2.412, 4.32]],
}


def _q_learning(
    d: Drawing,
    state: Tensor,
    action: Tensor,
    reward: Tensor,
    next_state: Tensor,
    going_on: Tensor,
    stopped: bool,
) -> None:
    g = d.g
    weights = d.variable("weights", [[0.2, -0.4], [0.7, 0.3]])
    with g.scope("taken"):
        last = g.constant(1, "int32", name="last_axis")
        q = g.one("MatMul", state, weights, name="q")
        taken = g.one("Sum", g.one("Mul", q, action, name="of_action"), last, name="prediction")
    with g.scope("future"):
        last = g.constant(1, "int32", name="last_axis")
        best = g.one("Max", g.one("MatMul", next_state, weights, name="q"), last, name="best")
        going = g.one("Mul", best, going_on, name="if_going_on")
        future = g.one("Mul", going, g.constant(0.9, name="discount"), name="discounted")
    target = g.one("AddV2", reward, future, name="target")
    if stopped:
        target = g.one("StopGradient", target, name="constant")
    error = g.one("Sub", target, taken, name="error")
    d.mean(g.one("Square", error, name="square"), "loss")


EXAMPLES = (stop_gradient_paths, dqn_target)
