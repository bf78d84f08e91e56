"""mypy without Python's collector, which takes a tenth of its time and frees next to nothing."""

from __future__ import annotations

import gc

from mypy.__main__ import console_entry


def main() -> None:
    """With mypy's own arguments and exit status. It sets the collector as it likes it, in several
    places: here it cannot."""
    gc.disable()
    for name in ("enable", "set_threshold"):
        setattr(gc, name, lambda *_: None)
    console_entry()


if __name__ == "__main__":
    main()
