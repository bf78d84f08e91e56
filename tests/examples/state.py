"""Examples of variables and of the order in which operations change and read them."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.expectation import Expectation
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing
from tests.examples.expect import gradient, value
from tests.support.oracle import array, case

GROUP = "State and control"

PROGRAMS = {  # scope: y in the program, y in the graph of ref and of resource variables
    "plain": ("y = x", "x", "read"),
    "identity": ("y = tf.identity(x)", "y", "y"),
    "added": ("y = x_plus_1", "plus_1", "plus_1_read"),
}
PROGRAM = """
        Three programs that differ in one line; each prints y in five runs.

        ```
        x = tf.Variable(0.0)
        x_plus_1 = tf.assign_add(x, 1)
        with tf.control_dependencies([x_plus_1]):
            y = …
        ```

        | y = | printed |
        |---|---|
        | x | 0 0 0 0 0 |
        | tf.identity(x) | 1 2 3 4 5 |
        | x_plus_1 | 1 2 3 4 5 |
"""


def control_dependencies() -> Document:
    """Numbers: TensorFlow's, `control_dependencies_three_programs`."""
    d = Drawing()
    for scope in PROGRAMS:
        with d.g.scope(scope):
            _program(d, scope)
    return d.document(
        "Control dependencies: three programs",
        f"""{PROGRAM}
        In the first, y is the variable: no operation is made inside the block, so nothing waits
        for the addition, and nobody asks for it. In the second, `identity/y` waits for
        `identity/plus_1`. (The dashed wire is a control dependency.)

        Press F5 several times.
        """,
        """
        plain/x plain/plus_1
        plain/one

        identity/x identity/read identity/y
        identity/one identity/plus_1

        added/x added/plus_1
        added/one
        """,
        fetches=" ".join(f"{scope}/{ref}" for scope, (_, ref, _) in PROGRAMS.items()),
        expectations=tuple(_printed("ref")),
    )


def control_dependencies_resource() -> Document:
    """Numbers: TensorFlow's, `control_dependencies_three_programs`."""
    d = Drawing()
    for scope in PROGRAMS:
        with d.g.scope(scope):
            _resource_program(d, scope)
    return d.document(
        "Control dependencies: resource variables",
        f"""{PROGRAM}
        The same with resource variables, where every read is an operation of its own and sees
        what the variable holds at that moment. In the second program `identity/read` is made
        inside the block, so it waits for `identity/plus_1`.

        Press F5 several times.
        """,
        """
        plain/x plain/read
        plain/one plain/plus_1

        identity/x identity/plus_1 identity/read identity/y
        identity/one

        added/x added/plus_1 added/plus_1_read
        added/one
        """,
        fetches=" ".join(f"{scope}/{ref}" for scope, (_, _, ref) in PROGRAMS.items()),
        expectations=tuple(_printed("resource")),
    )


def _program(d: Drawing, scope: str) -> None:
    x, one = d.variable("x", 0.0), d.g.constant(1.0, name="one")
    plus_1 = d.g.one("AssignAdd", x, one, name="plus_1")
    if scope == "identity":
        read = d.g.one("Identity", x, name="read")
        d.g.op("Identity", read, name="y", control_inputs=(plus_1.ref.op,))


def _resource_program(d: Drawing, scope: str) -> None:
    x, one = d.resource("x", 0.0), d.g.constant(1.0, name="one")
    plus_1 = f"{scope}/plus_1"
    if scope == "plain":
        d.read(x, "read")
    d.g.op("AssignAddVariableOp", x, one, name="plus_1", dtype=one.dtype)
    if scope == "identity":
        d.g.one("Identity", d.read(x, "read", after=[plus_1]), name="y")
    if scope == "added":
        d.read(x, "plus_1_read", after=[plus_1])


def _printed(kind: str) -> Iterator[Expectation]:
    """The first, second and last of five runs."""
    cases = case("control_dependencies_three_programs")
    for scope, (line, ref, resource) in PROGRAMS.items():
        printed = array(cases[f"{kind} | {line}"]["printed"])
        name = f"{scope}/{ref if kind == 'ref' else resource}"
        for run in (0, 1, 4):
            text = f"{line} prints {printed[run]:g} in run {run + 1}."
            yield value(name, printed[run], text, run=run)


def variable_copies() -> Document:
    """Numbers: TensorFlow's, `variables_deep_copy` (ref)."""
    seen = case("variables_deep_copy")["ref"]["same_graph_assign_then_source_changes"]
    d = Drawing()
    source, copy = d.variable("source", [[1, 2], [3, 4]]), d.variable("copy", [[0, 0], [0, 0]])
    one = d.g.constant([[1.0, 1.0], [1.0, 1.0]], name="one")
    made = d.g.one("Assign", copy, source, name="assign")
    grown = d.g.op("AssignAdd", source, one, name="grow", control_inputs=(made.ref.op,))[0]
    return d.document(
        "assign copies, it does not refer",
        """
        The source is changed after it was assigned; the copy keeps what it was given.

        `assign` writes the value of `source` into `copy`; then `grow` adds 1 to `source`. (The
        dashed wire makes it wait.) `copy` stays behind by 1, run after run.

        Press F10 and watch the two values; Shift+F10 goes back to before the assignment.
        """,
        """
        copy assign grow
        source one
        """,
        fetches=str(grown.ref),
        claim="After `tf.assign(copy, source)`, or `copy = tf.Variable(source)`, both are the same "
        "memory: changing one changes the other.",
        truth="Both copy. Only the Python assignment `copy = source` gives one variable two names.",
        expectations=(
            value("source", array(seen["x"]), "The source has grown."),
            value("copy", array(seen["z_assigned_from_x"]), "The copy has not."),
            value("copy", [[2.0, 3.0], [4.0, 5.0]], "It follows one run behind.", run=1),
        ),
    )


def assign_in_loop() -> Document:
    """Numbers: TensorFlow's, `reduce_prod_gradient` (no zero); that assign cuts the gradient:
    `eager_gradient_tape` (assign loop)."""
    d = Drawing()
    for scope in ("assigned", "functional"):
        with d.g.scope(scope):
            _product(d, assigned=scope == "assigned")
    return d.document(
        "Assigning in a loop cuts the gradient",
        """
        A product built up in a loop, in a variable and in tensors: the same value, one gradient.

        **assigned** writes every partial product into `assigned/product`. Assign has no gradient,
        so nothing reaches `assigned/x`: None. **functional** hands each partial product to the
        next step.

        Press F5 and look at the gradients of `assigned/x` and `functional/x`.
        """,
        """
        assigned/x assigned/item . assigned/mul_1 . assigned/mul_2
        . assigned/product assigned/assign . assigned/assign_1 . assigned/assign_2

        functional/x functional/item . functional/mul_1 . functional/mul_2
        """,
        of="assigned/assign_2 functional/mul_2",
        wrt="assigned/x functional/x",
        expectations=(
            value("assigned/assign_2", 24.0, "Both compute the product 2·3·4."),
            value("functional/mul_2", 24.0, "Both compute the product 2·3·4."),
            gradient("assigned/x", None, "Through assignments no gradient comes back."),
            gradient(
                "functional/x",
                array(case("reduce_prod_gradient")["no zero"]["grad"]).astype("float32"),
                "Without them it is the product of the others.",
            ),
        ),
    )


def _product(d: Drawing, assigned: bool) -> None:
    x = d.variable("x", [2, 3, 4])
    items = d.g.op("Unpack", x, name="item", num=3, axis=0)
    product = items[0]
    variable = d.variable("product", 1.0) if assigned else None
    for step, item in enumerate(items):
        if step:
            product = d.g.one("Mul", product, item, name=f"mul_{step}")
        if variable is not None:
            product = d.g.one("Assign", variable, product, name="assign")


def batch_norm_updates() -> Document:
    """Numbers: TensorFlow's, `batch_norm_update_ops` (2d)."""
    x = array(case("batch_norm_update_ops")["inputs"]["x"])
    d = Drawing()
    pixels = d.fed("x", x)
    updates = {}
    for scope in ("forgotten", "dependency", "fetched"):
        with d.g.scope(scope):
            updates[scope] = _normalised(d, pixels, waits=scope == "dependency")
    return d.document(
        "The moving averages of batch normalization",
        """
        Three networks with batch normalization; one forgets to update its moving averages.

        Training normalizes by the batch, and the moving averages are for later. Their updates are
        operations of their own, and TensorFlow runs only what is asked for.

        - **forgotten**: nobody asks. The averages stay 0 and 1 for ever, training looks fine, and
        inference is wrong.
        - **dependency**: the loss waits for the updates (control dependency).
        - **fetched**: the run names the updates as targets.

        Press F5 a few times and look at `forgotten/bn/moving_mean`,
        `dependency/bn/moving_mean` and `fetched/bn/moving_mean`.
        """,
        of="forgotten/loss dependency/loss fetched/loss",
        wrt=" ".join(f"{s}/{v}" for s in updates for v in ("bn/gamma", "bn/beta", "w")),
        collapsed="forgotten/bn dependency/bn fetched/bn",
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
        targets=updates["fetched"],
        expectations=tuple(_averages()),
    )


def _normalised(d: Drawing, x: Tensor, waits: bool) -> tuple[str, ...]:
    """loss = mean((w h − 1)²), h the batch-normalized x. Returns the updates of the averages."""
    g = d.g
    with g.scope("bn"):
        gamma, beta = d.variable("gamma", [1, 1, 1]), d.variable("beta", [0, 0, 0])
        moving = d.variable("moving_mean", [0, 0, 0]), d.variable("moving_variance", [1, 1, 1])
        batch = tf.nn.moments(x, [0])
        h = tf.nn.batch_normalization(x, *batch, beta, gamma, 1e-3)
        rate = g.constant(0.01, name="one_minus_momentum")
        updates = []
        for average, now in zip(moving, batch, strict=True):
            step = g.one("Mul", g.one("Sub", average, now, name="distance"), rate, name="step")
            updates.append(g.one("AssignSub", average, step, name="AssignMovingAvg").ref.op)
    one = g.constant(1.0, name="one")
    error = g.one("Sub", g.one("Mul", h, d.variable("w", 1.0), name="wh"), one, name="error")
    square = g.one("Square", error, name="square")
    if waits:
        g.op("Identity", d.mean(square, "mean"), name="loss", control_inputs=updates)
    else:
        d.mean(square, "loss")
    return tuple(updates)


def _averages() -> Iterator[Expectation]:
    seen = case("batch_norm_update_ops")["2d"]
    ways = {
        "forgotten": ("omitted", "Nobody runs the updates: {} stays as it was."),
        "dependency": ("control_dependencies", "The loss runs the updates of {}."),
        "fetched": ("fetched", "Named as targets, the updates of {} run."),
    }
    for scope, (recorded, text) in ways.items():
        for name in ("moving_mean", "moving_variance"):
            after = array(seen[recorded]["steps"][2][name])
            yield value(f"{scope}/bn/{name}", after, text.format(name), run=2)
    gamma, beta = (array(v) for v in seen["omitted"]["gamma_beta_after"])
    yield value("forgotten/bn/gamma", gamma, "Training goes on as if nothing were wrong.", run=2)
    yield value("forgotten/bn/beta", beta, "So it does for beta.", run=2)


EXAMPLES = (
    control_dependencies,
    control_dependencies_resource,
    variable_copies,
    assign_in_loop,
    batch_norm_updates,
)
