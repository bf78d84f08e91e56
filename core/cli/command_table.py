"""Every command and its arguments, declared without loading what a command does.

So `--help` is light: the module of a command is imported when it is done.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.data_flags import add_data_arguments
from gradstep.core.cli.arguments.format_words import opens, writes
from gradstep.core.cli.arguments.optimizer_flags import (
    add_minimized,
    add_optimizer_arguments,
    add_optimizer_choice,
)
from gradstep.core.number_format_names import NUMBER_FORMATS

START_PAGE = "-"  # in place of a file's name, for a picture of the window without a document
STEPS = 100  # of training, where --steps says nothing
KEPT = 3  # of the newest checkpoints, where --keep says nothing
LINES = 10  # that come out of training where --every says nothing


@dataclass(frozen=True)
class Verb:
    """One command: a line of help, and what adds its arguments to a parser, whose docstring is
    what `--help` says first. `execute` in the module of gradstep.core.cli that bears its name does
    it."""

    help: str
    configure: Callable[[argparse.ArgumentParser], None]


def _run(parser: argparse.ArgumentParser) -> None:
    """Compute values: those of --fetch alone, or what the document itself runs, updates
    included."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    shared_arguments.names(parser, "--fetch", "tensor to compute, or operation to run")
    shared_arguments.add_run_arguments(parser)
    shared_arguments.speed(parser)
    shared_arguments.count(parser, "--runs", "repeat", default=1)
    shared_arguments.threads(parser)
    add_optimizer_choice(parser)
    add_minimized(parser)


def _grad(parser: argparse.ArgumentParser) -> None:
    """Compute gradients, with overrides and stops, and check them against finite differences."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    shared_arguments.gradients(parser)
    shared_arguments.add_run_arguments(parser)
    shared_arguments.kernels(parser)
    parser.add_argument(
        "--check", action="store_true", help="compare with finite differences in float64"
    )
    parser.add_argument(
        "--what-if",
        action="store_true",
        help="each gradient native, as it stands, with overrides only, with stops only, by finite "
        "differences, and straight through what rounds, with the operation where each parts from "
        "the native one",
    )


def _why(parser: argparse.ArgumentParser) -> None:
    """Say why a value or a gradient is NaN, infinite or zero, or why there is no gradient: where it
    began, by which operand, and on which path."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    shared_arguments.gradients(parser)
    shared_arguments.add_run_arguments(parser)
    shared_arguments.count(
        parser,
        "--runs",
        "run it so often, updates included, and explain what came in the last run",
        default=1,
    )
    shared_arguments.reduce(parser, "the first of them that is not as it should be")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="try the edits that may mend it: the run with each of them, beside the run as it is",
    )
    parser.add_argument(
        "--take",
        metavar="OUT",
        help="write the document with the first edit that mends each of them",
    )


def _query(parser: argparse.ArgumentParser) -> None:
    """Ask of many runs at which step something was so: the first step at which EXPR holds, in the
    language of breakpoints ('norm(grad["w"]) > 10 * previous(norm(grad["w"]))', 'x["loss"] > 3';
    `value` is what any step gave: 'isnan(value)'; words for that: nan, inf, zero, dead, …). At each
    step that gave a value to something in it, it is asked anew, in loops too."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    parser.add_argument("expression", metavar="EXPR", nargs="?", help="what has to hold")
    parser.add_argument("--who", metavar="NAME", help="in place of EXPR: who wrote NAME last")
    parser.add_argument("--every", action="store_true", help="all steps, and not the first alone")
    parser.add_argument("--back", action="store_true", help="the last one instead")
    shared_arguments.count(parser, "--runs", "run it so often, updates included", default=1)
    shared_arguments.gradients(parser)
    shared_arguments.add_run_arguments(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    """Problems of a graph, whether its gradients agree with finite differences, and whether what
    the document expects of its runs holds."""
    shared_arguments.document(parser)
    shared_arguments.gradients(parser)
    shared_arguments.add_run_arguments(parser)
    parser.add_argument(
        "--node",
        metavar="NAME",
        help="check the gradient of one operation alone, on the way to --of or not",
    )
    parser.add_argument(
        "--jacobian",
        action="store_true",
        help="of --node each element of its outputs by each of its inputs, and which are wrong",
    )
    parser.add_argument(
        "--second-order", action="store_true", help="check the gradients of gradients, too"
    )
    shared_arguments.reduce(parser, "that the first wrong gradient rule is wrong, or --node's")
    parser.add_argument(
        "--without",
        metavar="LINT",
        action="append",
        default=[],
        help="a lint that is not to look, by its code; all: none of them",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="every element and every operation, and not each tensor's worst one and what is not "
        "ok (as in --json)",
    )
    shared_arguments.count(
        parser,
        "--lint-runs",
        "how many runs the lints look at that are about numbers (1)",
        default=1,
    )
    shared_arguments.count(
        parser,
        "--workers",
        "where FILE is a folder, all documents in it are checked, so many at a time (as many "
        "as this machine has cores)",
    )
    _lines(parser, "document of a folder once it is over")


def _lines(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--lines",
        action="store_true",
        help=f"with --json: a line of JSON for each {what}, before the object",
    )


def _expect(parser: argparse.ArgumentParser) -> None:
    """Write down in a document what its runs give now; `gradstep check` holds them to it."""
    shared_arguments.document(parser)
    shared_arguments.names(parser, "--value", "a tensor, expected to be what it is")
    shared_arguments.names(
        parser, "--gradient", "a tensor whose gradient is expected to be what it is"
    )
    parser.add_argument(
        "--that",
        metavar="EXPRESSION",
        action="append",
        default=[],
        help='what else is expected to be as it is, or to hold: norm(grad["c"]), x["y"] > 1',
    )
    parser.add_argument("--failure", action="store_true", help="expect the run to fail as it does")
    shared_arguments.count(parser, "--run", "which run, the first is 1", default=1)
    parser.add_argument("--text", metavar="SENTENCE", default="", help="what that teaches")
    parser.add_argument("--out", metavar="OUT", help="write there, and leave FILE as it is")
    shared_arguments.add_feed_arguments(parser)


def _debug(parser: argparse.ArgumentParser) -> None:
    """The debugger in the terminal: interactive, or a script of commands."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    shared_arguments.gradients(parser)
    add_optimizer_choice(parser)
    shared_arguments.add_run_arguments(parser)
    parser.add_argument(
        "--script", metavar="COMMANDS", help='a file, or commands: "step; step; print a"'
    )


def _compare(parser: argparse.ArgumentParser) -> None:
    """The same graph on two devices, node by node: where a difference is made, and by which
    rule."""
    shared_arguments.document(parser)
    parser.add_argument(
        "--against",
        metavar="D",
        action="append",
        default=[],
        help="the other device, or what one gave elsewhere, FILE.gradrec; again for further ones",
    )
    parser.add_argument(
        "--record",
        metavar="FILE.gradrec",
        help="keep what the other device gives, and the document, so that others who do not have "
        "it can compare with it",
    )
    parser.add_argument(
        "--go-on",
        action="store_true",
        help="past a node that fails on one device, with the other's result",
    )
    parser.add_argument("--all", action="store_true", help="show nodes that are equal, too")
    parser.add_argument(
        "--node",
        metavar="NAME",
        action="append",
        default=[],
        help="what differs in one node: its worst elements, ULPs, NaN; again for further ones",
    )
    shared_arguments.reduce(parser, "the first difference that is made, or what --node makes")
    shared_arguments.gradients(parser)
    shared_arguments.add_run_arguments(parser)


def _precision(parser: argparse.ArgumentParser) -> None:
    """What a shorter number format does to a result: how large the error is, which operations make
    it, and which have to stay in float32 so that it is small. The format is imitated: operands and
    results are rounded, sums are made in float32."""
    shared_arguments.document(parser)
    parser.add_argument(
        "--format",
        choices=NUMBER_FORMATS,
        default=NUMBER_FORMATS[0],
        help=f"the other format ({NUMBER_FORMATS[0]}); tf32 rounds the factors of products alone",
    )
    parser.add_argument(
        "--target",
        metavar="TENSOR",
        default="",
        help='whose error: a tensor, or grad["w"] (what is differentiated, or fetched first)',
    )
    parser.add_argument(
        "--scope",
        metavar="NAME",
        action="append",
        default=[],
        help="only operations in this scope, or this one, with their gradients; again for more",
    )
    parser.add_argument(
        "--tolerance",
        metavar="R",
        type=shared_arguments.tolerance,
        default=None,
        help="how large the error may be, as a part of the result (a tenth of what it is)",
    )
    shared_arguments.count(
        parser,
        "--train",
        "make so many updates, too: in float32, in the format, and with what is proposed",
        default=0,
    )
    shared_arguments.count(
        parser,
        "--runs",
        "how many to make for the shares (256); with fewer, operations are looked at together",
        default=256,
    )
    parser.add_argument("--all", action="store_true", help="show the smallest shares, too")
    shared_arguments.gradients(parser)
    shared_arguments.add_run_arguments(parser)


def _profile(parser: argparse.ArgumentParser) -> None:
    """Where the time and the bytes of a run go: by operation, phase and scope; and what passes
    do."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    shared_arguments.speed(parser)
    shared_arguments.count(
        parser, "--runs", "how many to measure (as many as fit in about a second)", default=0
    )
    shared_arguments.threads(parser)
    shared_arguments.gradients(parser)
    add_optimizer_choice(parser)
    shared_arguments.add_run_arguments(parser)


def _plan(parser: argparse.ArgumentParser) -> None:
    """The plan of a run, which is not run: its steps in order, where each value lies in memory and
    from which step to which it is needed, and with --fast what each pass did. A run that starts
    while a variable has no value is recorded, --fast or not."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    shared_arguments.names(
        parser, "--fetch", "tensor to compute, or operation to run, in place of all that a run does"
    )
    shared_arguments.speed(parser)
    parser.add_argument(
        "--all", action="store_true", help="every step and value, and whole names (as in --json)"
    )
    shared_arguments.gradients(parser)
    shared_arguments.add_feed_arguments(parser)


def _train(parser: argparse.ArgumentParser) -> None:
    """Train: run the document's updates N times, fast, up to a step that fails or a loss that is
    not finite. TensorBoard reads what --logdir gets: the summaries that a run of the document
    computes, or else the losses. The document's threads do not run (`gradstep run --threads
    --runs N` lets them)."""
    shared_arguments.document(parser)
    shared_arguments.placement(parser)
    shared_arguments.names(
        parser, "--fetch", "tensor to show besides the losses, or operation to run"
    )
    _add_steps(parser)
    _lines(parser, "step that is shown, and each epoch's validation, as they are made")
    add_optimizer_arguments(parser)
    shared_arguments.count(
        parser,
        "--patience",
        "end once the loss has not become less for N steps; with --validate, that of the rows "
        "held back for N epochs",
        default=0,
    )
    parser.add_argument(
        "--every",
        metavar="K",
        type=shared_arguments.positive,
        help=f"show each K-th step (so that {LINES} are shown)",
    )
    shared_arguments.count(
        parser,
        "--towers",
        "part each batch of --data over so many processes, and average gradients by rows",
    )
    parser.add_argument("--logdir", metavar="DIR", help="folder for an event file of TensorBoard")
    parser.add_argument(
        "--checkpoint",
        metavar="DIR[/NAME.ckpt]",
        help="folder for checkpoints: all that the next step starts from, Adam's moments and draws "
        "of random numbers included; the one of the lowest loss stays as best.npz. With NAME.ckpt "
        "they are TensorFlow's: NAME.ckpt-120.index and its data",
    )
    parser.add_argument(
        "--checkpoint-every",
        metavar="K",
        type=shared_arguments.positive,
        help="write one each K-th step, and at the end (so that 10 are written)",
    )
    shared_arguments.count(parser, "--keep", f"how many of the newest checkpoints stay ({KEPT})")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from the newest checkpoint, if there is one, up to --steps in all; the numbers "
        "are those of a training that did not stop",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the document with the trained variables as initial values, to look at them or "
        "to go on, over a file that is there; an optimizer's slots (Adam's moments) are no part of "
        "a document, unless its graph came with them, and start anew",
    )
    parser.add_argument("--overwrite", action="store_true", help="--out may be the document itself")
    shared_arguments.fast(parser)
    parser.set_defaults(fast=True)


def _add_steps(parser: argparse.ArgumentParser) -> None:
    """By what it is trained, what each step is fed, and how many there are."""
    add_optimizer_choice(parser)
    add_minimized(parser)
    shared_arguments.add_run_arguments(parser)
    shared_arguments.count(parser, "--steps", f"how many updates ({STEPS}, or those of --epochs)")
    add_data_arguments(parser)
    parser.add_argument(
        "--until",
        metavar="EXPR",
        default="",
        help="end with the step in which this holds, in the language of breakpoints: "
        "'loss < 0.1' (the first loss), 'norm(grad[\"w\"]) < 1e-6', 'x[\"accuracy\"] > 0.9'",
    )


def _sweep(parser: argparse.ArgumentParser) -> None:
    """Train with many settings and seeds, several at a time, and compare what comes of them. What
    can be set: an optimizer's own (learning_rate, or train_1.learning_rate of one among several),
    the value of a constant, variable or placeholder by its name, an attribute (NODE.ATTRIBUTE), and
    with --data batch."""
    shared_arguments.document(parser, optional=True)
    shared_arguments.placement(parser)
    _lines(parser, "run once it is over")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUES",
        action="extend",
        nargs="+",
        default=[],
        help="learning_rate=1e-4:1:log8 (eight, evenly spread on a logarithmic scale), "
        "learning_rate=0:1:lin5, train=0.1,0.3, 'w=normal(0, 0.1),zeros()'; several of them: all "
        "combinations",
    )
    shared_arguments.count(
        parser,
        "--seeds",
        "make each combination so often, with other seeds: of random operations, of "
        "generators in --set that have none, of --shuffle",
    )
    shared_arguments.count(
        parser,
        "--sample",
        "draw so many combinations in place of all; ranges need no number of values then",
    )
    parser.add_argument(
        "--seed", metavar="S", type=shared_arguments.whole, help="of what --sample draws (0)"
    )
    shared_arguments.count(
        parser, "--workers", "processes to train in (as many as this machine has cores)"
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="train on the workers of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT "
        "(gradstep[cluster])",
    )
    for name, what in (("ca", "authority"), ("cert", "certificate"), ("key", "key")):
        parser.add_argument(f"--tls-{name}", metavar="FILE", help=f"{what} of tls:// (PEM)")
    parser.add_argument(
        "--out", metavar="DIR", help="keep it there: rows, curves, the document; see --resume"
    )
    parser.add_argument(
        "--resume",
        metavar="DIR",
        help="make the runs that are missing in DIR; what was asked for stands there, but --trust, "
        "--sandbox and --code",
    )
    parser.add_argument(
        "--end-with-input",
        action="store_true",
        help="end as by Ctrl+C when standard input does, for a program that started it",
    )
    _add_steps(parser)
    shared_arguments.fast(parser)
    parser.set_defaults(fast=True)


def _events(parser: argparse.ArgumentParser) -> None:
    """Curves of event files, as `gradstep train --logdir`, TensorFlow and PyTorch write them for
    TensorBoard: what there is, or one of them as CSV. Files that are being written, or are damaged,
    are read as far as they are whole."""
    parser.add_argument("path", metavar="DIR", help="a folder with event files in it, or a file")
    parser.add_argument("--tag", metavar="TAG", default="", help="all points of that curve")
    shared_arguments.memory(parser)


def _convert(parser: argparse.ArgumentParser) -> None:
    """Write a document in another format, chosen by the suffix of OUT; `-` prints it as Python."""
    parser.add_argument("file", metavar="IN", help=opens())
    shared_arguments.placement(parser)
    shared_arguments.memory(parser)
    shared_arguments.code(parser)
    shared_arguments.restore(parser)
    parser.add_argument(
        "--pack-data", action="store_true",
        help="put the rows of the document's data into OUT, a .gradstep file: it needs no other "
        "file then",
    )  # fmt: skip
    parser.add_argument("out", metavar="OUT", help=writes("- for the screen"))


def _capture(parser: argparse.ArgumentParser) -> None:
    """Print the exporter of a framework: one file of Python that needs nothing of Gradstep. Save it
    where your model is, as `gradstep capture torch > gradstep_torch.py`, and call its `save`; what
    that writes (.gstrace) opens here."""
    parser.add_argument("framework", choices=("torch", "jax"))
    parser.add_argument("--out", metavar="FILE", type=Path, help="write it there")


def _follow(parser: argparse.ArgumentParser) -> None:
    """Follow a PyTorch loop that runs on this machine inside `with gradstep.watch(…)`: loss and
    norms by layer, a line for each step until it ends. Of several, the list. With --json each line
    is an object, as the training says it."""
    parser.add_argument(
        "training", metavar="PID", nargs="?", help="its process, or its socket; none: the only one"
    )
    parser.add_argument("--list", action="store_true", help="say which there are")


def _trust(parser: argparse.ArgumentParser) -> None:
    """Documents whose Python may run, as you decided in the window: list them, or revoke that."""
    parser.add_argument("what", choices=("list", "revoke"))
    parser.add_argument(
        "programs", metavar="PROGRAM", nargs="*",
        help="whose trust to revoke: the beginning of its number as listed, or its file",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="revoke all")


def _shot(parser: argparse.ArgumentParser) -> None:
    """A picture of the window on a document, stopped after some steps."""
    parser.add_argument("file", metavar="FILE", help=opens(f"{START_PAGE} (start page)"))
    parser.add_argument("out", metavar="OUT.png", type=Path)
    shared_arguments.memory(parser)
    parser.add_argument(
        "--step", metavar="N[/ITERATION:STEP]", type=shared_arguments.position, default=(0, ""),
        help="steps to take first; in a loop: iterations and steps of it besides"
    )  # fmt: skip
    parser.add_argument("--theme", metavar="T", choices=("light", "dark"), default="dark")
    parser.add_argument("--size", metavar="WxH", type=shared_arguments.size, default=(1600, 1000))
    parser.add_argument(
        "--scale", metavar="F", type=shared_arguments.scale, default=1.0, help="pixels per point"
    )
    parser.add_argument(
        "--profile", choices=("recorded", "fast"), help="measure such runs first, and show where "
        "the time goes"
    )  # fmt: skip
    parser.add_argument(
        "--colour", choices=("time", "bytes", "difference"), help="tint the nodes by that"
    )
    for name, metavar, words in (
        ("--select", "NODE", "a node to select"),
        ("--show", "PANEL", "a panel to bring to the front: gradients, device_diff, …"),
        ("--compare", "DEVICE", "a device to compare with, such as emulate:tf-gpu"),
    ):
        parser.add_argument(name, metavar=metavar, action="append", default=[], help=words)


def _tour(parser: argparse.ArgumentParser) -> None:
    """Play the tutorial through the real window, and keep pictures of it."""
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path("out"), help="for pictures"
    )


def _desktop(parser: argparse.ArgumentParser) -> None:
    """Put Gradstep into the menu of your desktop, with its icon and its file type; or take it
    out again. For you alone: all that is written lies below $XDG_DATA_HOME (~/.local/share)."""
    parser.add_argument("what", choices=("install", "uninstall"))


def _doctor(parser: argparse.ArgumentParser) -> None:
    """What this machine has: Python, packages, Qt, fonts, a display, devices; and what to do."""
    parser.add_argument(
        "--engine", metavar="ssh://HOST", default="", help="what another machine has, as an engine"
    )


def _diff(parser: argparse.ArgumentParser) -> None:
    """Nodes that OTHER has more, less, under another name, with other inputs or attributes than
    FILE, and what else is other in it; status 1 where anything is. Nothing is run: for values,
    `compare` in `gradstep debug` holds two sessions against each other."""
    shared_arguments.document(parser)
    parser.add_argument("other", metavar="OTHER", help="the other document")
    parser.add_argument(
        "--names", action="store_true", help="by their names alone: none has been renamed"
    )
    parser.add_argument(
        "--all", action="store_true", help="each source line that is other, too (as in --json)"
    )


def _align(parser: argparse.ArgumentParser) -> None:
    """The same network from two frameworks, whatever names, operations and orders of axes each has:
    both are run on the same inputs, and their tensors aligned by what numbers are in them. Says the
    first stretch behind which the numbers are others, on both sides, and the rule that makes it,
    such as another epsilon; then the next one with the first made good, and the gradients. Status 1
    where anything is other. Feeds are of FILE; OTHER gets them in its order of axes."""
    shared_arguments.document(parser)
    parser.add_argument("other", metavar="OTHER", help="the other document")
    parser.add_argument(
        "--tolerance",
        metavar="T",
        type=shared_arguments.tolerance,
        default=1e-5,
        help="of a tensor's norm, up to which a difference is rounding (1e-5)",
    )
    parser.add_argument(
        "--all", action="store_true", help="every operation that is behind a difference"
    )
    shared_arguments.add_run_arguments(parser)


def _engine(parser: argparse.ArgumentParser) -> None:
    """The engine process: requests on standard input, answers on standard output."""
    parser.add_argument("--stdio", action="store_true", help="talk over standard input and output")
    parser.add_argument(
        "--sandbox", action="store_true", help="without network and files (see gradstep doctor)"
    )
    parser.add_argument(
        "--worker", action="store_true", help="do the work of a sweep's process, which starts it"
    )


VERBS: Mapping[str, Verb] = {
    "run": Verb("compute values", _run),
    "grad": Verb("compute gradients, and check them", _grad),
    "why": Verb("say why a value or a gradient is NaN, infinite, zero or None", _why),
    "query": Verb("at which step of which run an expression holds", _query),
    "check": Verb("problems, the gradient check, and what it says of its runs", _check),
    "expect": Verb("write down what the runs give, for check to hold them to", _expect),
    "debug": Verb("the debugger in the terminal", _debug),
    "compare": Verb("the same graph on two devices, node by node", _compare),
    "diff": Verb("what one document has otherwise than another", _diff),
    "align": Verb("the same network from two frameworks, value by value", _align),
    "precision": Verb("which operations make the error of a shorter format", _precision),
    "profile": Verb("time and bytes of each operation, and what passes do", _profile),
    "plan": Verb("the steps of a run, their memory, and what passes do", _plan),
    "train": Verb("make many updates fast, for TensorBoard if asked", _train),
    "sweep": Verb("train with many settings, and compare", _sweep),
    "events": Verb("list the curves of TensorBoard's event files", _events),
    "convert": Verb("write a document in another format", _convert),
    "capture": Verb("print the exporter for PyTorch models, or JAX functions", _capture),
    "follow": Verb("follow a watched PyTorch training while it runs", _follow),
    "trust": Verb("list the documents whose Python may run, or revoke that", _trust),
    "shot": Verb("the window, as a picture", _shot),
    "tour": Verb("play the tutorial through the window", _tour),
    "doctor": Verb("what this machine has, and what to do", _doctor),
    "desktop": Verb("put Gradstep into your desktop's menu, or take it out", _desktop),
    "engine": Verb("the engine process that a window talks to", _engine),
}
