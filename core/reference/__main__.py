"""Writes docs/ops.md; `./dev docs` runs this."""

from __future__ import annotations

from pathlib import Path

from core.reference.page import page

PATH = Path(__file__).parents[2] / "docs" / "ops.md"

if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8", newline="\n")
