"""What is known of a device of this machine: whether it works, and what to do where it does not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """available: it was tried and gave the right numbers, or is known to. name: what the machine
    calls it, as a card's. text: what is there, or what is missing and how to get it. commands: what
    to type for that, one of them where there are several. source: who says how it computes.
    asking: not known yet, for what was asked has not answered; text says that."""

    available: bool
    name: str = ""
    text: str = ""
    commands: tuple[str, ...] = ()
    source: str = ""
    asking: bool = False
