"""Mutants of .gradstep files: of records, members, zips, .npy headers, attributes and code."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random

from tests.fuzz import members, records, wishes
from tests.fuzz.case import Case
from tests.fuzz.examples import base, example, packed

# What a change meets where an earlier one has put something else.
_GONE = (TypeError, AttributeError, ValueError, LookupError)
_CHANGES = (*records.CHANGES, *wishes.CHANGES)


def case(dice: Random) -> Case:
    """One document: an example, changed in one to five ways."""
    parts = dict(example(base(dice)))
    tree = json.loads(parts["document.json"])
    for _ in range(dice.choice((1, 1, 2, 2, 3, 5))):
        with suppress(*_GONE):
            dice.choice(_CHANGES)(dice, tree)
    parts["document.json"] = json.dumps(tree).encode()
    if dice.random() < 0.12:
        dice.choice(members.CHANGES)(dice, parts)
    data = packed(parts)
    return Case(".gradstep", members.damaged(dice, data) if dice.random() < 0.04 else data)
