"""The version of the program that runs."""

from __future__ import annotations


def version() -> str:
    """As it was installed: "0.1.0"."""
    from importlib import metadata  # not loaded by a start that does not ask

    return metadata.version("gradstep")
