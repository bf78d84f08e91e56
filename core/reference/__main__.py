"""Writes docs/modules.md, docs/moves.md, docs/ops.md and docs/blocks.md; `./dev docs` runs this."""

from __future__ import annotations

from pathlib import Path

from gradstep.core.reference import block_page, module_page, move_page, ops_page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "modules.md": module_page.page,
    "moves.md": move_page.page,
    "ops.md": ops_page.page,
    "blocks.md": block_page.page,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (DOCS / name).write_text(write(), encoding="utf-8", newline="\n")
