"""Names of the number formats that are tried beside float32; loads nothing, for `--help` asks."""

from __future__ import annotations

from typing import Literal, get_args

FormatName = Literal["bfloat16", "float16", "tf32", "float64"]
NUMBER_FORMATS: tuple[FormatName, ...] = get_args(FormatName)
