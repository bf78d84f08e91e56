"""What a number format does to a result, as text: sentences, and the table of shares."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.checks.precision.error_shares import Share
from gradstep.core.checks.precision.precision_report import PrecisionReport
from gradstep.core.checks.precision.precision_words import advice, headline, overflowing
from gradstep.core.cli.output.command_output import table
from gradstep.core.graph.model import Graph, Phase

_SHOWN, _SMALL = 12, 0.001  # shares; those below it are folded


def precision_text(found: PrecisionReport, graph: Graph, every: bool = False) -> str:
    """every: with the smallest shares, too."""
    return "\n".join(_lines(found, graph, every))


def _lines(found: PrecisionReport, graph: Graph, every: bool) -> Iterator[str]:
    yield from filter(None, (headline(found), overflowing(found)))
    if found.shares and found.error:
        yield ""
        large = [one for one in found.shares if abs(one.share) >= _SMALL][:_SHOWN]
        shown = found.shares if every else large
        yield table([_row(one, graph) for one in shown], ("share", "operation", "type", ""))
        rest = [one for one in found.shares if one not in shown]
        if rest:
            share, count = sum(one.share for one in rest), sum(len(one.names) for one in rest)
            yield f"{share:7.1%}  {count} more (--all shows them)"
    for sentence in advice(found):
        yield from ("", sentence)


def _row(one: Share, graph: Graph) -> list[str]:
    first = graph[one.names[0]]
    rest = f"and {len(one.names) - 1} behind it" if len(one.names) > 1 else ""
    phase = "" if first.phase is Phase.FORWARD else first.phase.value
    return [f"{one.share:7.1%}", first.name, first.type, rest or phase]
