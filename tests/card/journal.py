"""Results as they come in, a JSON line each, so that a run that is cut off goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Journal:
    """One file. A line that was cut off while it was written counts as not there.

    facts: what must be the same for what is there already to hold; else the file is begun anew.
    """

    def __init__(self, path: Path, facts: dict[str, Any]) -> None:
        self.path = path
        self.results: dict[str, Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = list(_lines(path)) if path.exists() else []
        if lines and lines[0] == {"facts": facts}:
            self.results = {line["task"]: line["result"] for line in lines[1:]}
        with path.open("w", encoding="utf-8") as file:
            file.write(_line({"facts": facts}))
            file.writelines(_line({"task": t, "result": r}) for t, r in self.results.items())

    def add(self, task: str, result: Any) -> None:
        """Keep one result, on disk too."""
        self.results[task] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line({"task": task, "result": result}))


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _lines(path: Path) -> Any:
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(text)
        except ValueError:
            return
