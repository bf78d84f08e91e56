"""What the installed package is asked from within: run by its own Python, which knows nothing of
the checkout. Prints one JSON object."""

import json
import sys
from pathlib import Path

import gradstep
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.file_reader import FileReader
from gradstep.core.layout import layout_process
from gradstep.core.layout.box_diagram import Box
from gradstep.core.program import sandbox
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.protocol import messages


def layout_places() -> int:
    """How many boxes the layout's process places; its stand-in in this process would hide a
    failure."""
    boxes = [Box(name, 80, 30) for name in "abc"]
    found = layout_process._ask(boxes, [("a", "b"), ("b", "c")], "own", 60)
    return len(found or ())


def devices(confined: bool) -> list[str]:
    client = EngineClient()
    client.confined = confined
    client.start()
    try:
        reply, _ = client.call(messages.Devices(), timeout=60)
        return [device.name for device in reply.devices]
    finally:
        client.close()


def main() -> None:
    package = Path(gradstep.__file__).parent
    document, _ = FileReader().read(EXAMPLES / "tutorial.gradstep")
    found = {
        "package": str(package),
        "path": sys.path,
        "foreign": sorted(
            file
            for name, module in list(sys.modules.items())
            if name.partition(".")[0] == "gradstep"
            and (file := getattr(module, "__file__", None) or "")
            and not Path(file).is_relative_to(package)
        ),
        "examples": len([*EXAMPLES.glob("*.gradstep")]),
        "operations": len(document.graph.operations),
        "places": layout_places(),
        "engine": devices(confined=False),
        "sandbox": sandbox.why_not(),
    }
    if not found["sandbox"]:
        found["confined"] = devices(confined=True)
    sys.stdout.write(json.dumps(found))


main()
