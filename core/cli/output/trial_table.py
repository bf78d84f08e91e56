"""What an edit does that was tried, in a terminal: a sentence, and a small table."""

from __future__ import annotations

from gradstep.core.cli.output.command_output import table
from gradstep.core.protocol.messages import Tried


def trial_text(tried: Tried) -> str:
    """The run as it is stands before the run with the edit."""
    rows = [["", "as it is", "with it"]]
    rows += [[row.what, row.before, row.after] for row in tried.rows]
    below = "\n".join(f"    {line}" for line in table(rows).splitlines())
    return f"{tried.label}. {tried.text}\n{below}"
