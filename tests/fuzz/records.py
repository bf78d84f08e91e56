"""Changes to the operations of a document's records, and to anything in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random

from tests.fuzz import odd
from tests.fuzz.attributes import NAMES, attribute
from tests.fuzz.examples import Tree, base, example, items, known, op_types, operations, places

Change = Callable[[Random, Tree], None]


def _anywhere(dice: Random, tree: Tree) -> None:
    """Any one thing in the records: another value, gone, or twice."""
    where = dice.choice(list(tree)) if dice.random() < 0.5 else None
    there = [*places(tree if where is None else {where: tree[where]})]
    holder, key = dice.choice(there)
    what = dice.random()
    if what < 0.6:
        holder[key] = odd.value_like(dice, holder[key], known(tree))
    elif what < 0.8:
        del holder[key]
    elif isinstance(holder, list):
        holder.insert(dice.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        other, its = dice.choice(there)
        holder[key] = copy.deepcopy(other[its])


def _of_operation(change: Callable[[Random, Tree, Tree], None]) -> Callable[[Random, Tree], None]:
    def changed(dice: Random, tree: Tree) -> None:
        if found := operations(tree):
            change(dice, tree, dice.choice(found))

    return changed


def _rewire(dice: Random, tree: Tree, op: Tree) -> None:
    inputs = op.setdefault("inputs", [])
    names = known(tree)
    what = dice.random()
    if what < 0.5 and inputs:
        inputs[dice.randrange(len(inputs))] = odd.text(dice, names)
    elif what < 0.7 and inputs:
        inputs[dice.randrange(len(inputs))] = None
    elif what < 0.8 and inputs:
        del inputs[dice.randrange(len(inputs))]
    elif what < 0.9:
        inputs.insert(dice.randrange(len(inputs) + 1), dice.choice(names))
    else:
        op["control_inputs"] = [odd.text(dice, names) for _ in range(dice.randrange(1, 3))]


def _retype(dice: Random, tree: Tree, op: Tree) -> None:
    op["type"] = dice.choice(op_types()) if dice.random() < 0.9 else odd.text(dice, op_types())


def _attribute(dice: Random, tree: Tree, op: Tree) -> None:
    attrs = op.setdefault("attrs", {})
    names = [*attrs] or ["T"]
    key = dice.choice(names) if dice.random() < 0.7 else dice.choice(NAMES)
    if dice.random() < 0.25:
        attrs.pop(key, None)
    else:
        attrs[key] = attribute(dice, known(tree))


def _add_operation(dice: Random, tree: Tree) -> None:
    names, type = known(tree), dice.choice(op_types())
    count = dice.choice((0, 1, 1, 2, 2, 3, 5))
    attrs = {dice.choice(NAMES): attribute(dice, names) for _ in range(dice.choice((0, 0, 1, 3)))}
    inputs = [odd.text(dice, names) if dice.random() < 0.9 else None for _ in range(count)]
    tree.setdefault("operations", []).append(
        {"name": f"odd_{dice.randrange(5)}", "type": type, "inputs": inputs, "attrs": attrs}
    )
    if dice.random() < 0.5:
        tree.setdefault("fetches", []).append(tree["operations"][-1]["name"])


def _from_another(dice: Random, tree: Tree) -> None:
    """Some part of another example in place of this one's."""
    other = json.loads(example(base(dice))["document.json"])
    key = dice.choice(list(other))
    mine, its = tree.get(key), other[key]
    if isinstance(mine, list) and isinstance(its, list):
        tree[key] = mine + its
    elif isinstance(mine, dict) and isinstance(its, dict):
        tree[key] = {**mine, **its}
    else:
        tree[key] = its


def _swap(dice: Random, tree: Tree) -> None:
    """Two operations in each other's place."""
    operations = items(tree, "operations")
    if len(operations) > 1:
        a, b = dice.sample(operations, 2)
        key = dice.choice(("attrs", "inputs", "name", "type"))
        a[key], b[key] = b.get(key, copy.deepcopy(a.get(key))), a.get(key)
        for op in (a, b):
            if op[key] is None:
                del op[key]


CHANGES: tuple[Change, ...] = (
    *(_anywhere, _anywhere, _anywhere),
    *(_of_operation(_rewire), _of_operation(_rewire)),
    *(_of_operation(_retype), _of_operation(_retype)),
    *(_of_operation(_attribute), _of_operation(_attribute), _of_operation(_attribute)),
    *(_add_operation, _add_operation, _from_another, _swap),
)
