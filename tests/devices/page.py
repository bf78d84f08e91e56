"""docs/devices.md: every emulated system, corner by corner, with what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gradstep.core.ops.declare.table import all_ops
from gradstep.gpu.corner_cases import Corner, all_corners
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.rule_statuses import Cell, cells, status_of
from gradstep.gpu.rule_words import words
from tests.devices.holding import libraries, recording

_INTRODUCTION = """\
# Devices

A comparison (**Device diff**, `gradstep compare FILE --against D`) runs every node here and on \
another device. Where there is no such device, it can be emulated: NumPy under the rules of that \
system. This page says of each system what is known, and from where. It is made from the tables \
in `gpu/corner_cases.py` and `gpu/rule_statuses.py` by `./dev docs`; a test fails where the two \
differ.

A cell is one system, one operation and one corner, in which systems do not agree: an index out \
of range, an integer over 0, NaN in a maximum. Each is *measured* (a library was asked, and the \
profile gives the same), *read* (in documentation or source) or *unknown*. Where the inputs of a \
node are in a corner that is unknown, its row and the last sentence of the comparison say so: \
nobody is told that there is no difference where nobody knows. What a node's tensors would come \
to elsewhere is computed by the same rules as the columns.

One corner every operation has: the last bits of its result. Operations that move, compare or \
choose values give the same everywhere, and so do those that are rounded once (`+ - * / sqrt`), \
but for PyTorch's `sqrt`, which was 1 ULP off in 3 of 500 small numbers; in what order sums are \
added up, and the last bits of other functions, is unknown of every emulated system, and said of \
every node.
"""
_SAID = """\
## What a comparison says

First a verdict. *Semantics, not rounding*: a node gives something else by a rule, named with \
its source. *Rounding*: every node stays within what its arithmetic may round, but together they \
do not; the rule (TF32) and the nodes that make it are named. *Neither rounding nor a known \
rule*: a node is off by more than it may round, on equal inputs. Then how many nodes that \
explains, where it is amplified, how far what was asked for is off, how many classes change, and \
what is unknown.

A row has the largest difference (Δ), the 99th percentile of the distance in ULP, what the node \
*created* on equal inputs and what it *inherited* (both as relative L2), and the *budget*: how \
much of its tolerance the difference takes. Equal nodes are folded. A click on a row, or `--node \
NAME`, shows the elements that differ most on both sides and in float64, how many elements are \
how many ULP apart, and which are NaN or infinite. `--all` names equal nodes, too; `--against` \
may be given several times; `--go-on` passes a node that fails on one device, with the other's \
result.
"""
_KEPT = """\
## A device that is elsewhere

`gradstep compare FILE --against gpu --record net.gpu.gradrec`, or **Record…** in Device diff, \
keeps what a device gave for each node, twice: on its own results, and on those of the device it \
was compared with. The file holds the document as well, with what it was fed, and says the card, \
the driver, the library and the day. `gradstep compare net.gpu.gradrec` compares with it on any \
machine; so do `--against net.gpu.gradrec`, for the same document, and **Add a recording…** in \
the menu of devices, where recordings that lie beside the document (`net.*.gradrec`, or in a \
folder `recordings` there) are offered by themselves. Opened, a recording is the document. An \
operation, a feed or a first value that is another one than there is refused by its name: what \
the device would give for that nobody knows. What an NVIDIA H200 gives for the examples \
(`*.gpu.gradrec`), PyTorch on a processor, and CuPy without a card (`cupy:host`, \
[gpu](gpu.md#cupy-without-a-card)), comes with Gradstep. JAX \
and XLA run no graph of Gradstep's: their answers to the questions below are kept instead.
"""
_AWAITED = """\
## What a card is waited for

A card answers when it has done all that it was given to do, so nothing is asked of it on the way \
that the host can know: sizes, axes, counters and what is made of them lie on the host. What is \
left are questions about the data. An operation that asks one waits for its answer, once; and \
what reads an input on the host (Print, summaries, PyFunc, the weights of a draw) waits for that \
where a card computes it.
"""
_HELD = """\
## How it is held to the libraries

`./dev devices` asks every profile what its library was asked: {questions} questions of up to \
500 random cases each, with the answers of {libraries}; `--json` gives `{{"profiles": {{NAME: \
{{"cells", "measured", "read", "unknown", "cases", "mismatches"}}}}}}`. A question that a \
library leaves open is not asked (which of equal numbers PyTorch's `topk` puts first). \
`tests/devices/record.py` asks a library anew, in an environment of its own. What CuPy, JAX and \
PyTorch did on a card is told in [gpu](gpu.md), and held by `tests/gpu/test_recorded_card.py`.
"""


def page() -> str:
    """The page as the tables make it."""
    parts = [_INTRODUCTION, _SAID, _KEPT, *_counts()]
    for profile in PROFILES:
        parts += [f"## {profile}\n", f"`emulate:{profile}`. {PROFILES[profile].source}.\n"]
        parts += [*_table(profile), ""]
    return "\n".join([*parts, _AWAITED, *_awaited(), "", _held()])


def _awaited() -> Iterator[str]:
    asked: dict[str, list[str]] = {}
    for definition in all_ops():
        if definition.kernel.asks:
            asked.setdefault(definition.kernel.asks, []).append(definition.type)
    yield "| what is asked | by |"
    yield "|---|---|"
    for what, types in asked.items():
        yield f"| {what} | {', '.join(types)} |"


def _counts() -> Iterator[str]:
    yield "## What is known\n"
    yield "| system | cells | measured | read | unknown |"
    yield "|---|---|---|---|---|"
    for profile in PROFILES:
        counts = Counter(cell.status for cell in cells(profile))
        row = (profile, sum(counts.values()), *(counts[s] for s in ("measured", "read", "unknown")))
        yield f"| {' | '.join(map(str, row))} |"
    yield ""


def _table(profile: str) -> Iterator[str]:
    yield "| corner | what it does | measured | otherwise |"
    yield "|---|---|---|---|"
    for corner in all_corners():
        known = [status_of(profile, op, corner.name) for op in corner.ops]
        yield f"| {' | '.join(_row(profile, corner, known))} |"


def _row(profile: str, corner: Corner, known: list[Cell]) -> tuple[str, str, str, str]:
    asked = [cell for cell in known if cell.status == "measured"]
    others = [cell for cell in known if cell.status != "measured"]
    says = words(corner.name, PROFILES[profile])
    does = "" if says is None or all(c.status == "unknown" for c in known) else says[1]
    where = f"{_ops(asked)}: {asked[0].where}" if asked else ""
    reads = [cell for cell in others if cell.status == "read"]
    rest = "; ".join(filter(None, (_rest(reads), _rest(_unknown(others)))))
    return f"{_name(corner)}", does, where, rest


def _name(corner: Corner) -> str:
    return f"{corner.what} ({_ops_of(corner)})"


def _ops_of(corner: Corner) -> str:
    names = list(corner.ops)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _rest(others: list[Cell]) -> str:
    if not others:
        return ""
    first = others[0]
    return f"{_ops(others)}: {first.where or '**unknown**'}"


def _unknown(others: list[Cell]) -> list[Cell]:
    return [cell for cell in others if cell.status == "unknown"]


def _ops(known: list[Cell]) -> str:
    names = [cell.op for cell in known]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _held() -> str:
    versions = [recording(name).facts["version"] for name in libraries()]
    asked = {
        name.rpartition("|")[0]
        for library in libraries()
        for name in recording(library).arrays
        if name.endswith("|raised")
    }
    return _HELD.format(questions=len(asked), libraries=", ".join(versions))
