"""What an engine answers to documents, and to some with a few of their wires gone, as digests by
name: for a test that starts this in processes of different hash seeds."""

from __future__ import annotations

import hashlib
import json
import random
import sys

import msgspec

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Edge
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from tests.soak import documents

_LOOKED_AT, _EDITED = 2, 3  # each second one; and of these each third one edited, too


def digests() -> dict[str, str]:
    """Name → digest of the whole answer: program, problems, notation, where it stands."""
    found = {}
    for number, name in enumerate(sorted(documents.names())[::_LOOKED_AT]):
        document = documents.load(name)
        found[name] = _digest(document)
        if number % _EDITED == 0:
            found[f"{name}, edited"] = _digest(_edited(document, random.Random(name)))
    return found


def _edited(document: Document, draw: random.Random) -> Document:
    wires = [Edge(op.name, i) for op in within(document.graph) for i in range(len(op.inputs))]
    for edge in draw.sample(wires, min(3, len(wires))):
        try:
            document = document_edits.disconnect(document, edge)
        except GradstepError:
            continue  # nothing is there any more
    return document


def _digest(document: Document) -> str:
    opened = m.Open(trusted=True, recorded_limit=1 << 28)
    file = gradstep_file.to_bytes(document, readable=False)
    answer, _ = EngineService(CpuOnly()).handle(opened, (file,))
    return hashlib.sha256(msgspec.msgpack.encode(answer)).hexdigest()[:16]


if __name__ == "__main__":
    json.dump(digests(), sys.stdout)
