"""docs/blocks.md: every composite block, with what it makes on inputs of its own."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from gradstep.core.graph.model import Graph
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_settings import Setting
from gradstep.core.layers.block_table import Block, BlockInput, all_blocks
from gradstep.core.layers.network_reuse import NETWORK
from gradstep.core.ops.declare.op_subjects import capitalized, family_title

_INTRODUCTION = """\
# Blocks

What is drawn in one go as ordinary operations inside a name scope: {count} composite blocks, in \
the palette under *blocks*, or with Shift+A. This page is written from the table of blocks by \
`./dev docs`; a test fails where the two differ.

A block reads what is selected, in the order of its inputs; where nothing is, it makes \
placeholders like those given here (an input with `?` may be left out). Its settings are asked for \
when it is drawn. Weights start the same every time: they are drawn from streams that follow from \
their names. Instead of making its own, a block can share those of another, as in \
`variable_scope(reuse=True)`.
"""


def page() -> str:
    """The page as the table makes it."""
    blocks = list(all_blocks())
    lines = [_INTRODUCTION.format(count=len(blocks))]
    for family in dict.fromkeys(b.family for b in blocks):
        lines.append(f"## {capitalized(family_title(family))}\n")
        lines += [line for b in blocks if b.family == family for line in _entry(b)]
    return "\n".join(lines)


def _entry(block: Block) -> Iterator[str]:
    yield f"### {block.name}\n"
    yield f"{block.doc}\n"
    contract = " ".join((inspect.getdoc(block.build) or "").split())
    if contract:
        yield f"{contract}\n"
    yield f"- Inputs: {', '.join(map(_input, block.inputs))}"
    if not any(setting.names == NETWORK for setting in block.settings.values()):
        yield from _outcome(block)
    if block.settings:
        yield "- Settings:"
        yield from (_setting(name, setting) for name, setting in block.settings.items())
    yield ""


def _outcome(block: Block) -> Iterator[str]:
    """What it gives and makes, drawn by itself."""
    made = expand(Graph(), block)
    yield f"- Outputs: {', '.join(f'`{kind}`' for kind in made.outputs.values())}"
    if made.initial:
        variables = (
            f"`{name.removeprefix(made.scope + '/')}` {list(value.shape)}"
            for name, value in made.initial.items()
        )
        yield f"- Variables: {', '.join(variables)}"
    if made.updates:
        updates = (f"`{name.removeprefix(made.scope + '/')}`" for name in made.updates)
        yield f"- Updates: {', '.join(updates)}"


def _input(given: BlockInput) -> str:
    sizes = "" if given.shape is None else str(["?" if d is None else d for d in given.shape])
    return f"{given.name}{'?' if given.optional else ''} `{given.dtype}{sizes}`"


def _setting(name: str, setting: Setting) -> str:
    default = f"`{setting.written(setting.default)}`" if setting.default != "" else "to be chosen"
    return f"  - `{name}`, {default}: {setting.doc} ({setting.wanted})"
