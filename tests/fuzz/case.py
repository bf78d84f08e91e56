"""What a case is: a file as it would lie on a disk, or a text and the door it is typed into."""

from __future__ import annotations

import random
from dataclasses import dataclass

CANARY = "gradstep_code_ran"  # a name in `builtins`, which only code that ran unasked puts there
MARK = f"import builtins\nbuiltins.{CANARY} = True\n"


BOMB = ".bomb"  # what stands for a suffix where the file is made when it is needed


@dataclass(frozen=True)
class Case:
    """suffix: of the file (".gradstep", ".pb", ".pbtxt", ".onnx"), or of the text, by its door (see
    `tests.fuzz.doors`); data: what is in it, or the name of the bomb (`tests.fuzz.bombs`);
    exported: whether it is written in every format, too."""

    suffix: str
    data: bytes
    exported: bool = True

    @property
    def is_text(self) -> bool:
        return self.suffix not in (".gradstep", ".pb", ".pbtxt", ".onnx", BOMB)


def dice(kind: str, seed: int, number: int) -> random.Random:
    """What decides case `number`, and nothing else does."""
    return random.Random(f"{kind}:{seed}:{number}")
