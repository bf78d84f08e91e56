"""What a command of the console did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """Text for people, fields for JSON, and whether to leave."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    quit: bool = False
