"""The devices of a run: that of --device, and those that operations are placed on."""

from __future__ import annotations

import argparse

from gradstep.core.document.document import Document
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.placed_backend import open_placed
from gradstep.core.host.device_services import DeviceServices


def open_devices(args: argparse.Namespace, devices: DeviceServices, document: Document) -> Backend:
    """Raises GradstepError for a device that is not there."""
    return open_placed(args.device, document.graph, devices.open_backend)
