"""The command line beside the Python API, which is to say the same."""

from __future__ import annotations

from tests.core.cli.conftest import cli

__all__ = ["cli"]
