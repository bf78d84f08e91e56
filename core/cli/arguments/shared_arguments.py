"""Arguments that several verbs take, declared once."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from gradstep.core.cli.arguments.format_words import opens
from gradstep.core.cli.output.command_output import usage
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget, in_words

_LONGEST = 1_000_000  # seconds of --timeout: eleven days
_LARGEST = 8192  # pixels a side of a picture
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,3})?) *([kKmMgGtT]?)(?:i?[bB])?")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
# As long as numbers that mean anything; int() refuses those of thousands of digits.
_COUNT = re.compile(r"0*[1-9]\d{0,17}")
_STEP = re.compile(r"\d{1,18}")
_INSIDE = re.compile(r"\d{1,18}:\d{1,18}(/\d{1,18}:\d{1,18})*")


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are GradstepErrors, so that --json covers them, too."""

    def error(self, message: str) -> NoReturn:
        raise usage(message, f"see {self.prog} --help")


def document(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """The document, whether its Python may run, and what Python it lacks."""
    count: Any = "?" if optional else None
    parser.add_argument("file", metavar="FILE", help=opens("- (standard input)"), nargs=count)
    may = parser.add_mutually_exclusive_group()
    may.add_argument(
        "--trust",
        action="store_true",
        help="let the document's own Python run, this time, with your rights",
    )
    may.add_argument(
        "--sandbox",
        action="store_true",
        help="let it run, this time, without network and files but those that are named here",
    )
    memory(parser)
    code(parser)


def placement(parser: argparse.ArgumentParser) -> None:
    """Which device computes what, beside that of the run."""
    parser.add_argument(
        "--place",
        metavar="NAME=DEVICE",
        action="extend",
        nargs="+",
        default=[],
        help="place an operation, or all of a scope, on a device: layer1=torch:cpu; layer1= takes "
        "that away",
    )


def memory(parser: argparse.ArgumentParser) -> None:
    """How much memory reading may take; `budget` says it to a reader."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        type=_bytes,
        default=DEFAULT,
        help=f"memory that reading a file may take ({in_words(DEFAULT)}): 4GiB, 512MiB",
    )


def require_with(args: argparse.Namespace, owner: str, options: Iterable[str], hint: str) -> None:
    """Raises GradstepError (UsageError) for the first of these options that is given; where the
    one that they are about, `owner`, is not."""
    for option in options:
        given = getattr(args, option)
        if given is not None and given is not False and given != []:  # a seed of 0 is given
            raise usage(f"--{option.replace('_', '-')} is about {owner}", hint)


def reduce(parser: argparse.ArgumentParser, what: str) -> None:
    """Where the smallest graph goes that shows something."""
    parser.add_argument(
        "--reduce",
        metavar="OUT",
        help=f"write the smallest graph that still shows {what}, as a document, a script for "
        "TensorFlow (.py), PyTorch (.torch.py) or NumPy (.numpy.py), or any other format by its "
        "suffix",
    )


def budget(args: argparse.Namespace) -> Budget:
    """What `memory` was given, for one file."""
    return Budget(args.memory)


def code(parser: argparse.ArgumentParser) -> None:
    """Python that a graph names and does not have: naming its file is trusting it."""
    parser.add_argument(
        "--code",
        metavar="FILE.py",
        help="Python for the functions and gradients that the graph only names (def pyfunc_0…), "
        "which runs; `gradstep check` prints what is missing",
    )


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Feeds, initialisation, the device, and how long it may take."""
    add_feed_arguments(parser)
    parser.add_argument("--init", metavar="OP", help="operation to run once before the first run")
    restore(parser)


def restore(parser: argparse.ArgumentParser) -> None:
    """A checkpoint to take the variables from; `with_restored` gives the document with them."""
    parser.add_argument(
        "--restore",
        metavar="CHECKPOINT",
        help="let variables start as a checkpoint has them, by name: TensorFlow's model.ckpt-120, "
        "an .npz or .safetensors file, or the newest in a folder",
    )


def add_feed_arguments(parser: argparse.ArgumentParser) -> None:
    """Feeds, the device, and how long it may take."""
    parser.add_argument(
        "--feed",
        metavar="NAME=VALUE",
        action="extend",
        nargs="+",
        default=[],
        help="a value for a tensor: numbers or lists, a generator such as normal(0, 0.1, seed=1), "
        "or @FILE: .npy, .npz:KEY, .csv:COLUMNS, .safetensors:NAME, FOLDER/*.png",
    )
    parser.add_argument(
        "--allow-nan", action="store_true", help="let a fed value hold NaN or infinity"
    )
    parser.add_argument(
        "--device",
        metavar="D",
        default="cpu",
        help="cpu, gpu, torch:cpu, each with :native, or emulate:PROFILE (see gradstep doctor)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        help="end with an error, and exit status 124, when it has taken so long",
    )


def speed(parser: argparse.ArgumentParser) -> None:
    """Whether runs are made fast, which passes are left out of them, what computes besides NumPy;
    `layout` says it to a session."""
    parser.add_argument(
        "--fast", action="store_true", help="the plan that training runs: rewritten, memory reused"
    )
    fast(parser)


def threads(parser: argparse.ArgumentParser) -> None:
    """Whether the document's threads run."""
    parser.add_argument(
        "--threads", action="store_true", help="let the document's threads fill the queues"
    )


def fast(parser: argparse.ArgumentParser) -> None:
    """`speed` for what is always made fast."""
    parser.add_argument(
        "--without",
        metavar="PASS",
        action="append",
        default=[],
        help="leave a pass out of fast runs (`gradstep profile FILE --fast` lists them)",
    )
    kernels(parser)


def kernels(parser: argparse.ArgumentParser) -> None:
    """What computes besides NumPy; `chosen_kernels` says it to a session."""
    names(parser, "--kernels", "libraries to compute with where they gain; auto: all there are")


def chosen_kernels(args: argparse.Namespace) -> str | tuple[str, ...]:
    """What `kernels` was given, as Session takes it."""
    return "auto" if "auto" in args.kernels else tuple(args.kernels)


def layout(args: argparse.Namespace) -> dict[str, Any]:
    """What `speed` was given, as Session takes it. Raises GradstepError (UsageError) for passes
    left out of runs that have none."""
    if args.without and not args.fast:
        raise usage("only fast runs have passes to leave out", "add --fast")
    without, kernels = tuple(args.without), chosen_kernels(args)
    return {"fast": args.fast, "without": without, "kernels": kernels}


def gradients(parser: argparse.ArgumentParser) -> None:
    """What to differentiate; the document's own request where nothing is said."""
    names(parser, "--of", "what to differentiate")
    names(parser, "--wrt", "with respect to what: tensors, or variables")
    parser.add_argument(
        "--override",
        metavar="TARGET=GRADIENT",
        action="extend",
        nargs="+",
        default=[],
        help="another gradient for an op type, an operation, or a scope (written scope/)",
    )
    names(parser, "--stop", "let nothing flow back through a tensor, or a wire written op<1")
    names(parser, "--grad-ys", "the gradient to start with, one tensor for each --of (ones: -)")
    parser.add_argument(
        "--unconnected",
        choices=("none", "zero"),
        help="what to give where there is no gradient (unconnected_gradients)",
    )
    parser.add_argument(
        "--gate",
        action="store_true",
        help="pass on an operation's gradients only when all are there (gate_gradients)",
    )


def names(parser: argparse.ArgumentParser, flag: str, help: str) -> None:
    """A flag that takes names, and may be given again."""
    parser.add_argument(flag, metavar="NAME", action="extend", nargs="+", default=[], help=help)


def count(
    parser: argparse.ArgumentParser, flag: str, help: str, *, default: int | None = None
) -> None:
    """A flag that takes a whole number, of 1 or more."""
    parser.add_argument(flag, metavar="N", type=positive, default=default, help=help)


def positive(text: str) -> int:
    """A count of at least one."""
    if not _COUNT.fullmatch(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def _bytes(text: str) -> int:
    """`"4GiB"`, `"512M"` or a number of bytes."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size: write 4GiB or 512MiB")
    number, unit = found.groups()
    return int(float(number) * _UNITS[unit.lower()])


def seconds(text: str) -> float:
    """A time that a thread can wait for."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= _LONGEST:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds up to {_LONGEST}")
    return number


def whole(text: str) -> int:
    """A seed."""
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: write a whole number")
    return int(text)


def position(text: str) -> tuple[int, str]:
    """`"4/1:8"`: steps of the run, and the place in the loop that comes next then, as it stands."""
    step, slash, inside = text.partition("/")
    if not _STEP.fullmatch(step) or (slash and not _INSIDE.fullmatch(inside)):
        raise argparse.ArgumentTypeError(f"'{text}' is not STEP or STEP/ITERATION:STEP")
    return int(step), slash + inside


def scale(text: str) -> float:
    """Pixels per point, as far as a window can be drawn with so many."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.1 <= number <= 8:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0.1 to 8")
    return number


def tolerance(text: str) -> float:
    """A part of something, above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return value


def size(text: str) -> tuple[int, int]:
    """`"1600x1000"` as a pair."""
    width, cross, height = text.lower().partition("x")
    if not (cross and _COUNT.fullmatch(width) and _COUNT.fullmatch(height)):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT")
    if max(int(width), int(height)) > _LARGEST:
        raise argparse.ArgumentTypeError(f"'{text}' is more than {_LARGEST} pixels a side")
    return int(width), int(height)
