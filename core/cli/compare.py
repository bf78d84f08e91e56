"""The same graph on two devices, node by node: where a difference is made, and by which rule."""

from __future__ import annotations

import argparse

import msgspec

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.command_output import table
from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.protocol.messages import Comparison, SideResult


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Every node on both devices, forward and backward."""
    program = sound_program(load(args))
    found = app.devices().compare(program, args.device, args.against)
    return Answer(msgspec.to_builtins(found), _text(found))


def _text(found: Comparison) -> str:
    rows = [
        [n.name, n.type, n.verdict, _side(n.left), _side(n.right), n.rule or n.unknown]
        for n in found.nodes
    ]
    kind = "measured" if found.measured else f"emulated: {found.source}"
    lines = [
        table(rows, ["node", "type", "verdict", found.left, found.right, "rule"]),
        found.text,
        f"{found.right} is {kind}",
        *found.hazards,
    ]
    return "\n".join(lines)


def _side(side: SideResult) -> str:
    if side.status == "dead":
        return side.status
    if side.status != "ok":
        return side.text or side.status
    shown = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in side.values[:6])
    return f"[{shown}{', …' if len(side.values) > 6 else ''}]"
