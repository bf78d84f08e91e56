"""Which runs a sweep consists of: all combinations of its settings, or some that are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

import msgspec
import numpy as np

from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.sweep.setting_syntax import Setting, draw

MOST = 10_000  # runs


class RunSpec(msgspec.Struct, frozen=True):
    """One run. number: its place, from 1. values: setting -> text. seed: None where none is set."""

    number: int
    values: dict[str, str]
    seed: int | None = None


def grid(settings: Sequence[Setting], seeds: Sequence[int]) -> tuple[RunSpec, ...]:
    """All combinations, the last setting varying fastest, each with all seeds. Raises
    GradstepError (UsageError) for ranges that say no number of values, and too many runs."""
    _check_names(settings)
    for setting in settings:
        if not setting.values:
            raise GradstepError(
                f"the range of '{setting.name}' does not say how many values",
                kind=USAGE,
                hint="write 1e-4:1:log8 for eight, or draw some with --sample 20",
            )
    count = prod(len(setting.values) for setting in settings) * max(1, len(seeds))
    if count > MOST:
        raise GradstepError(
            f"that is {count:,} runs; at most {MOST:,} are made",
            kind=USAGE,
            hint="leave values away, or draw some with --sample 200",
        )
    names = [setting.name for setting in settings]
    every = product(*(setting.values for setting in settings))
    return _numbered((dict(zip(names, values, strict=True)) for values in every), seeds)


def sample(
    settings: Sequence[Setting], count: int, seed: int, seeds: Sequence[int]
) -> tuple[RunSpec, ...]:
    """`count` combinations drawn evenly, the same for the same seed, each with all seeds."""
    _check_names(settings)
    if count * max(1, len(seeds)) > MOST:
        raise GradstepError(f"at most {MOST:,} runs are made", kind=USAGE, hint="draw fewer")
    shares = np.random.Generator(np.random.Philox(seed)).random((count, len(settings)))
    drawn = (
        {s.name: _drawn(s, share) for s, share in zip(settings, row, strict=True)}
        for row in shares.tolist()
    )
    return _numbered(drawn, seeds)


def varied(runs: Sequence[RunSpec]) -> list[str]:
    """The settings that are not the same in all runs, in their order."""
    names = runs[0].values if runs else ()
    return [name for name in names if len({run.values.get(name) for run in runs}) > 1]


def _drawn(setting: Setting, share: float) -> str:
    if setting.span is not None:
        return draw(setting.span, share)
    return setting.values[int(share * len(setting.values))]


def _numbered(every: Iterator[Mapping[str, str]], seeds: Sequence[int]) -> tuple[RunSpec, ...]:
    each: Sequence[int | None] = seeds or [None]
    pairs = ((values, seed) for values in every for seed in each)
    return tuple(RunSpec(n, dict(values), seed) for n, (values, seed) in enumerate(pairs, 1))


def _check_names(settings: Sequence[Setting]) -> None:
    names = [setting.name for setting in settings]
    for name in names:
        if names.count(name) > 1:
            raise GradstepError(
                f"'{name}' is set twice", kind=USAGE, hint=f"write one list: {name}=VALUE,VALUE"
            )
