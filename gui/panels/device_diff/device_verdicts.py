"""What a comparison comes to, in sentences: the first thing that the device panel says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradstep.core.protocol.messages import Comparison
from gradstep.gui.look.device_text import device_label
from gradstep.gui.look.theme import Tone
from gradstep.gui.panels.widgets.sentence_pane import Said


def verdicts(comparisons: Sequence[Comparison], unavailable: Mapping[str, str]) -> list[Said]:
    """Of each device what differs and why; of those that are not there, what is missing."""
    found: list[Said] = []
    for one in comparisons:
        first, *more = one.sentences or [one.text]
        sentences: list[tuple[str, Tone]] = [(first, "text"), *((text, "muted") for text in more)]
        if not one.measured:
            sentences.append((f"{device_label(one.right)} is emulated: {one.source}", "faint"))
        found.append((device_label(one.right), one.brief, sentences))
    missing: list[tuple[str, Tone]] = [
        (f"{device_label(name)}: {text}", "muted") for name, text in unavailable.items()
    ]
    if missing:
        found.append(("Not compared", "", missing))
    hazards = dict.fromkeys(hazard for one in comparisons for hazard in one.hazards)
    if hazards:
        found.append(("What systems do otherwise", "", [(text, "muted") for text in hazards]))
    return found
