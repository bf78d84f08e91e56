"""What each lint is about, in words: its code, what it finds, what goes wrong with that."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LintSubject:
    """code: stable kebab-case name; title: what is found, in a few words; why: what goes wrong with
    it; example: the stem of an example that is about it, "" for none; of_runs: whether it is about
    numbers of recorded runs."""

    code: str
    title: str
    why: str
    example: str = ""
    of_runs: bool = False


SUBJECTS = (
    LintSubject(
        "forgotten-average",
        "Moving averages that nothing updates",
        "Batch normalisation trains with the statistics of each batch and is used with moving "
        "averages of them, which are updated by operations of their own. TensorFlow 1 puts these "
        "into a collection and runs them for nobody: training goes well, and the trained network "
        "gives nonsense.",
        "batch_norm_updates",
    ),
    LintSubject(
        "idle-update",
        "Updates that nothing runs",
        "An assignment is an operation like any other: it happens where something that a run is "
        "asked for needs it, or waits for it. To have made it is not to have run it.",
        "control_dependencies",
    ),
    LintSubject(
        "unreached-variable",
        "Variables that no loss reaches",
        "A gradient flows back along wires, through operations that have one. Where it does not "
        "arrive it is None, an optimizer leaves the variable out without a word, and it stays as "
        "it began.",
        "floor_ceil_cast",
    ),
    LintSubject(
        "idle-wait",
        "Control dependencies that order nothing",
        "Waiting orders what two operations do to the same state. It does nothing where one comes "
        "first anyway, or where what is waited for only computes a value; what was to be ordered "
        "is not.",
        "control_dependencies",
    ),
    LintSubject(
        "idle-stop",
        "Stops without an effect",
        "A stop holds back the gradient that arrives there. Where none arrives it does nothing, "
        "and the gradient that it was to hold back goes another way.",
        "stop_gradient_paths",
    ),
    LintSubject(
        "idle-override",
        "Overrides without an effect",
        "A gradient of one's own is called where the backward pass comes by. Where it does not, "
        "what is trained has the gradients that it would have without.",
        "override_add",
    ),
    LintSubject(
        "softmax-twice",
        "Softmax of a softmax",
        "A cross-entropy with logits makes the softmax itself. Given probabilities it makes one of "
        "numbers between 0 and 1, which can never be sure of anything: the network learns slowly "
        "and looks as if it had not converged.",
        "softmax_by_hand",
    ),
    LintSubject(
        "log-by-hand",
        "Logarithm of a softmax",
        "The logarithm of a softmax is logits minus one number, and never overflows. Made in two "
        "operations it goes by a probability that underflows to 0.",
        "softmax_by_hand",
    ),
    LintSubject(
        "broadcast-by-accident",
        "Shapes that broadcast by accident",
        "NumPy's rules make [n, n] of [n] and [n, 1], and no error. A loss of that trains every "
        "prediction towards every label.",
        "wrong_shape",
    ),
    LintSubject(
        "integer-quotient",
        "Whole numbers divided before they are cast",
        "The quotient of whole numbers is a whole number: 1 / 2 is 0, and so is all that is "
        "multiplied by it.",
    ),
    LintSubject(
        "label-range",
        "Labels that are no class",
        "A one-hot row of a label that there is no class for is all zeros, and the cross-entropy "
        "of zeros is 0: the row is right whatever is predicted.",
    ),
    LintSubject(
        "unlearned-statistics",
        "Normalised with averages that nobody made",
        "In inference mode batch normalisation uses its moving averages. With those that it began "
        "with, mean 0 and variance 1, it normalises nothing, and what is trained on top depends on "
        "that.",
        "batch_norm_updates",
    ),
    LintSubject(
        "starved-queue",
        "Queues that nothing fills",
        "Who takes from an empty queue waits until somebody puts something in. Where nobody does, "
        "the run stands still, without an error.",
        "queue_train_validation",
    ),
    LintSubject(
        "dropout-in-judgement",
        "Predictions judged with dropout",
        "Dropout leaves out part of a network while it is trained. Predictions are to be made with "
        "all of it: with another part missing in each run they look worse than they are.",
    ),
    LintSubject(
        "dead-units",
        "ReLU units that are always 0",
        "Where a ReLU gives 0 its gradient is 0. A unit that gives 0 for every row gets none, so "
        "nothing ever brings it back.",
        "saturated_activations",
        of_runs=True,
    ),
    LintSubject(
        "saturated-units",
        "Sigmoids and tanhs where they are flat",
        "The gradient that comes by is multiplied by the slope, which is next to nothing there; "
        "layers before it learn no more.",
        "saturated_activations",
        of_runs=True,
    ),
    LintSubject(
        "gradients-apart",
        "Gradients that differ ten thousandfold",
        "A step is the gradient times one learning rate. Between layers whose gradients are of "
        "other sizes by far, it moves one of them only.",
        "vanishing_exploding",
        of_runs=True,
    ),
    LintSubject(
        "epsilon-rules",
        "Adam's epsilon larger than the gradient",
        "Adam divides the gradient by its own size, and adds epsilon so as not to divide by 0. "
        "With gradients smaller than that it divides by epsilon, and hardly moves.",
        of_runs=True,
    ),
    LintSubject(
        "moved-by-memory",
        "Weights without a gradient that are moved",
        "Adam and momentum step by an average of gradients, not by the last one: where that is 0 "
        "now, the average is not.",
        "adam_freezing",
        of_runs=True,
    ),
    LintSubject(
        "overshooting-step",
        "Steps that overshoot",
        "Along a step the loss falls, and rises again where the step is too long for its "
        "curvature. Where it ends up higher than it began, each step makes it worse.",
        of_runs=True,
    ),
    LintSubject(
        "summed-loss",
        "Sums of rows where means were meant",
        "The gradient of a sum over the rows of a batch is as many times that of their mean as "
        "there are rows, and a learning rate for the one is too large for the other.",
        of_runs=True,
    ),
    LintSubject(
        "unscaled-input",
        "Inputs of sizes far from 1",
        "The gradient of the first weights is as large as what they are multiplied by, and the "
        "curvature as large as its square: one learning rate is too large for them and too small "
        "for all others.",
        of_runs=True,
    ),
    LintSubject(
        "lost-digits",
        "Sums that lose what is added",
        "A float32 has 24 bits, a float16 has 11. What is smaller than half of the last one of a "
        "number changes nothing when it is added, however often.",
        of_runs=True,
    ),
)
