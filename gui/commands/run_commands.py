"""Running: values, breakpoints, devices, the engine; and how it all looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document import document_edits
from gradstep.core.document.placement_edits import place
from gradstep.core.host.remote_engine import read_address
from gradstep.core.protocol.device_names import RECORDED_DEVICE
from gradstep.core.protocol.messages import DeviceInfo
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.look import theme
from gradstep.gui.model.selection import selected_units
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace


@says_why
def set_feed(workspace: Workspace, tensor: str, array: np.ndarray[Any, Any]) -> None:
    """Set what is fed to a tensor in every run."""
    document = document_edits.set_feed(workspace.document, tensor, array)
    workspace.edit(f"Feed {tensor}", document, f"feed:{tensor}")


@says_why
def toggle_breakpoint(workspace: Workspace, name: str = "") -> None:
    """Set or clear a breakpoint on a node, or on a scope, whose name ends in "/"; without a name,
    on each node and each closed scope that is selected."""
    document = workspace.document
    for target in [name] if name else selected_units(workspace):
        document = document_edits.toggle_breakpoint(document, target)
    workspace.edit("Toggle breakpoint", document)


def toggle_line_breakpoint(workspace: Workspace, line: str) -> None:
    """Set or clear one on what a line of the traced program ("net.py:81") asked for."""
    document = document_edits.toggle_line_breakpoint(workspace.document, line)
    workspace.edit("Toggle breakpoint", document)


def set_breakpoints(workspace: Workspace, breakpoints: Iterable[Breakpoint]) -> None:
    workspace.edit("Breakpoints", document_edits.set_breakpoints(workspace.document, breakpoints))


def set_threads(workspace: Workspace, threads: tuple[Thread, ...]) -> None:
    """What runs beside the main program."""
    workspace.edit("Threads", workspace.document.with_(threads=threads))


def switch_thread(workspace: Workspace, name: str) -> None:
    """Let the debugger's commands move another thread, and show where it stands."""
    workspace.control("thread", name)


def run_to(workspace: Workspace, target: str) -> None:
    """Run to an operation, or to "run:step"."""
    workspace.control("run_to", target)


def pause(workspace: Workspace) -> None:
    """Stop a run in progress at its next step."""
    workspace.control("pause")


def restart_engine(workspace: Workspace) -> None:
    """A new engine process; the session comes back at the same step."""
    workspace.debugger.restart()


def use_engine(workspace: Workspace, address: str) -> None:
    """Go on with an engine on another machine, ssh://host, or on this one, "", at the same step,
    and begin there from now on. Raises GradstepError for what is no such address."""
    engine = read_address(address) if address else None
    settings().engine = address
    workspace.debugger.move(engine)


def keep_recorded(workspace: Workspace, limit: int) -> None:
    """Keep so many bytes of recorded runs; what is dropped is recomputed when it is asked for."""
    settings().recording_limit = limit
    workspace.debugger.reopen()


def place_selected(workspace: Workspace, device: str) -> None:
    """Have another device compute what is selected, and what is in the selected scopes; "": that of
    the run. Raises GradstepError for what cannot be placed."""
    document = place(workspace.document, selected_units(workspace), device)
    workspace.edit(f"Place on {device}" if device else "Place on the run's device", document)


def use_device(workspace: Workspace, device: str) -> None:
    """Make all further runs on `device`."""
    workspace.debugger.use(device)


def compare(workspace: Workspace, against: Sequence[str] = (), go_on: bool = False) -> None:
    """Run on other devices, node by node; without any, on the one that there is to compare with.
    go_on: past what fails on one of two, with the other's results."""
    workspace.ask_window("show", "device_diff")
    workspace.recordings.compare(against or [device_to_compare_with(workspace)], go_on)


def record_device(workspace: Workspace, device: str, path: Path) -> None:
    """What `device` gives for this document, into a file that others can compare with."""
    workspace.recordings.record(device, path)


def add_recording(workspace: Workspace, path: Path) -> None:
    """Offer a recording of a device to compare this document with."""
    workspace.recordings.add(path)


def device_to_compare_with(workspace: Workspace) -> str:
    """What was recorded elsewhere, where anything was; else the device chosen in the settings."""
    if _was_recorded(workspace):
        return RECORDED_DEVICE
    return workspace.recordings.meant or settings().compare_with


def comparable_devices(workspace: Workspace) -> list[DeviceInfo]:
    """What can be compared with: what another framework recorded of this graph, recordings of
    devices, then devices."""
    run, devices = workspace.document.recorded, [*workspace.recordings.devices, *workspace.devices]
    if run is None or not _was_recorded(workspace):
        return devices
    text = f"as {run.source} computed it"
    recorded = DeviceInfo(name=RECORDED_DEVICE, kind="recorded", available=True, text=text)
    return [recorded, *devices]


def _was_recorded(workspace: Workspace) -> bool:
    run = workspace.document.recorded
    return run is not None and run.can_be_compared_with


def measure(workspace: Workspace) -> None:
    """Time every operation of some runs, in the mode chosen in the profile."""
    workspace.ask_window("show", "profile")
    workspace.profiler.measure()


def colour_by(workspace: Workspace, what: str) -> None:
    """Colour the canvas by "time", "bytes" or "difference"; by what it is coloured already: no
    longer. Measures, or compares, first where that was not done yet."""
    profiler = workspace.profiler
    profiler.colour_by("" if what == profiler.colouring else what)
    if profiler.colouring == "difference":
        if not workspace.comparisons:
            compare(workspace)
    elif profiler.colouring and profiler.measured is None:
        measure(workspace)


def set_theme(workspace: Workspace, choice: str) -> None:
    """ "light", "dark" or "system"; remembered."""
    settings().theme = choice
    workspace.set_theme(theme.theme_for(choice))


def open_path(workspace: Workspace, path: str | Path) -> None:
    """Show a file in place of the open document; the window asks about unsaved edits first."""
    workspace.ask_window("open", str(path))
