"""The same graph on two devices, node by node: where a difference is made, and by which rule."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import msgspec

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.comparison_text import comparison_text, detail_text
from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.protocol.messages import Comparison


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Every node on both devices, forward and backward; on several, one after the other."""
    program = sound_program(load(args))
    devices = app.devices()
    found = [devices.compare(program, args.device, device, args.go_on) for device in args.against]
    text = "\n\n".join(part for one in found for part in _parts(one, args))
    data = [msgspec.to_builtins(one) for one in found]
    return Answer(data[0] if len(data) == 1 else {"comparisons": data}, text)


def _parts(found: Comparison, args: argparse.Namespace) -> Iterator[str]:
    """Of nodes that were named, only what there is of them."""
    if not args.node:
        yield comparison_text(found, args.all)
    for name in args.node:
        yield detail_text(found, name)
