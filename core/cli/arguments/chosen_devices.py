"""The devices of a run: that of --device, and those that operations are placed on."""

from __future__ import annotations

import argparse

from gradstep.core.cli.application_protocol import Application
from gradstep.core.document.document import Document
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.placed_backend import with_placement


def open_devices(args: argparse.Namespace, app: Application, document: Document) -> Backend:
    """Raises GradstepError for a device that is not there."""
    devices = app.devices()
    home = devices.open_backend(args.device)
    return with_placement(home, document.graph, devices.open_backend)
