"""The same graph on two devices, node by node: where a difference is made, and by which rule."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.output.comparison_text import comparison_text, detail_text
from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.cli.runs.smallest_file import write_smallest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.data_edits import fed_alone
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.host.device_reduction import (
    reduced_difference,
    reduced_recording,
    require_runnable,
)
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.io.device_recordings import is_recording
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.messages import Comparison


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Every node on both devices, forward and backward; on several, one after the other."""
    against = args.against or ([args.file] if is_recording(args.file) else [])
    _require_usable(args, against)
    loaded = load(args)
    program, devices = sound_program(loaded), app.devices()
    if args.record:
        found = [_recorded(loaded, program, devices, args)]
    else:
        found = [_compared(program, devices, args, device) for device in against]
    text = "\n\n".join(part for one in found for part in _parts(one, args))
    if args.record:
        text += f"\nwritten to {args.record}"
    data = [msgspec.to_builtins(one) for one in found]
    whole = data[0] if len(data) == 1 else {"comparisons": data}
    if args.reduce:
        node = args.node[0] if args.node else ""
        about = loaded, program, devices, args.device or "cpu"
        if is_recording(against[0]):
            data_of, called = read_file(against[0], budget(args)), Path(against[0]).name
            reduce = partial(reduced_recording, *about, data_of, called, node)
        else:
            reduce = partial(reduced_difference, *about, against[0], node)
        whole["reduced"], said = write_smallest(args.reduce, reduce, app.picture)
        text += f"\n{said}"
    return Answer(whole, text)


def _require_usable(args: argparse.Namespace, against: list[str]) -> None:
    if not against:
        raise GradstepError(
            "there is nothing to compare with",
            kind=USAGE,
            hint="--against with a device (gradstep doctor lists them), or with a FILE.gradrec",
        )
    if args.record and (len(against) > 1 or is_recording(against[0])):
        raise GradstepError(
            "--record keeps what one device gives", kind=USAGE, hint="one --against, with a device"
        )

    if args.reduce and (len(against) > 1 or len(args.node) > 1):
        raise GradstepError(
            "--reduce is about one device, and one node at most",
            kind=USAGE,
            hint="one --against, with a device of this machine, an emulated one or a FILE.gradrec",
        )
    if args.reduce:
        require_runnable(against[0])


def _compared(
    program: Program, devices: DeviceServices, args: argparse.Namespace, device: str
) -> Comparison:
    if not is_recording(device):
        return devices.compare(program, args.device, device, args.go_on)
    data, name = read_file(device, budget(args)), Path(device).name
    return devices.compare_recording(program, args.device, data, name, args.go_on)


def _recorded(
    loaded: Loaded, program: Program, devices: DeviceServices, args: argparse.Namespace
) -> Comparison:
    """Compare, and write the recording."""
    document = gradstep_file.to_bytes(fed_alone(loaded.document, program.feeds))
    found, data = devices.record(program, args.device, args.against[0], document, args.go_on)
    replace_file(args.record, data)
    return found


def _parts(found: Comparison, args: argparse.Namespace) -> Iterator[str]:
    """Of nodes that were named, only what there is of them."""
    if not args.node:
        yield comparison_text(found, args.all)
    for name in args.node:
        yield detail_text(found, name)
