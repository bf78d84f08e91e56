"""Changes to what a document asks of its graph: gradients, updates, runs, breakpoints, code."""

from __future__ import annotations

from random import Random

from tests.fuzz import odd
from tests.fuzz.attributes import tensor
from tests.fuzz.examples import Tree, items, known, operations
from tests.fuzz.expressions import expression
from tests.fuzz.records import Change


def _some(dice: Random, names: list[str], most: int = 3) -> list[str]:
    return [odd.text(dice, names) for _ in range(dice.randrange(most))]


def _request(dice: Random, tree: Tree) -> None:
    names = known(tree)
    request = tree.setdefault("request", {})
    key = dice.choice(("of", "wrt", "stops", "stopped_edges", "overrides", "grad_ys", "gate"))
    if key == "gate":
        request["gate"] = True
    elif key == "stopped_edges":
        request[key] = [f"{name}<{odd.whole(dice)}" for name in _some(dice, names)]
    elif key == "overrides":
        kinds = ("type", "op", "scope")
        gradients = ["Custom", "Identity", *(str(x.get("name")) for x in items(tree, "code"))]
        request[key] = [
            {"gradient": odd.text(dice, gradients), "target": odd.text(dice, names),
             "kind": dice.choice(kinds)}
            for _ in range(dice.randrange(1, 3))
        ]  # fmt: skip
    else:
        request[key] = _some(dice, names)


def _optimizers(dice: Random, tree: Tree) -> None:
    types = ("GradientDescent", "Momentum", "Adam", "RMSProp", "Adagrad", "Adadelta", "Ftrl", "Odd")
    hyper = ("learning_rate", "beta1", "momentum", "epsilon", "use_nesterov", "decay", "odd")
    names = known(tree)
    tree["optimizers"] = [
        {
            "type": dice.choice(types),
            "hyper": {
                dice.choice(hyper): dice.choice((odd.number(dice), 0.1, *odd.NOT_FINITE))
                for _ in range(dice.randrange(4))
            },
            "of": _some(dice, names),
            "wrt": _some(dice, names),
            "scales": {odd.text(dice, names): odd.number(dice) for _ in range(dice.randrange(2))},
            "name": odd.text(dice, names),
        }
        for _ in range(dice.choice((1, 1, 2)))
    ]
    tree.pop("optimizer", None)


def _breakpoints(dice: Random, tree: Tree) -> None:
    names = known(tree)
    tree["breakpoints"] = [
        {
            "target": odd.text(dice, [*names, "forward", "backward", "Mul"]),
            "kind": dice.choice(("op", "gradient", "scope", "type", "phase")),
            "condition": expression(dice, names) if dice.random() < 0.6 else "",
            "hits": odd.whole(dice) if dice.random() < 0.3 else 1,
            "exempt": _some(dice, names),
        }
        for _ in range(dice.randrange(1, 4))
    ]
    tree["watches"] = [expression(dice, names) for _ in range(dice.randrange(3))]


def _values(dice: Random, tree: Tree) -> None:
    where = tree.setdefault(dice.choice(("feeds", "initial")), {})
    names = [*where, *known(tree)]
    where[odd.text(dice, names)] = tensor(dice)


def _threads(dice: Random, tree: Tree) -> None:
    names = known(tree)
    tree["threads"] = [
        {
            "name": odd.text(dice, ["main", "queue", "0"]),
            "targets": _some(dice, names),
            "fetches": _some(dice, names),
            "closes": odd.text(dice, names) if dice.random() < 0.3 else "",
        }
        for _ in range(dice.randrange(1, 3))
    ]


def _runs(dice: Random, tree: Tree) -> None:
    names = known(tree)
    tree[dice.choice(("fetches", "targets"))] = _some(dice, names, 4)
    if dice.random() < 0.3:
        tree["init"] = odd.text(dice, names)
    if dice.random() < 0.2:
        tree["imported"] = [
            {"scope": odd.text(dice, names), "of": _some(dice, names), "wrt": _some(dice, names)}
        ]


def _expectations(dice: Random, tree: Tree) -> None:
    names = known(tree)
    when = {
        "feeds": {odd.text(dice, names): tensor(dice)},
        "of": _some(dice, names),
        "wrt": _some(dice, names),
        "fetches": _some(dice, names),
        "device": dice.choice(("cpu", "gpu", "emulate:tf-gpu", "odd")),
    }
    tree.setdefault("expectations", []).append(
        {
            "text": odd.text(dice, []),
            "what": expression(dice, names),
            "kind": dice.choice(("equals", "holds", "fails", "none", "same")),
            "value": dice.choice((None, tensor(dice))),
            "other": dice.choice(("", expression(dice, names))),
            "run": dice.choice((0, 1, 2, odd.whole(dice))) if dice.random() < 0.3 else 0,
            "error": odd.text(dice, ["InvalidArgumentError"]) if dice.random() < 0.3 else "",
            "when": dice.choice((None, when)),
        }
    )


def _words(dice: Random, tree: Tree) -> None:
    tree[dice.choice(("title", "note", "claim", "truth", "group", "functions"))] = dice.choice(
        odd.TEXTS
    )


def _code(dice: Random, tree: Tree) -> None:
    """A function of the document that would leave a mark if it ran."""
    kind = dice.choice(("gradient", "numpy_gradient", "pyfunc"))
    name = odd.text(dice, [*(str(item.get("name")) for item in items(tree, "code")), "pyfunc_0"])
    tree.setdefault("code", []).append({"name": name, "kind": kind, "file": "code/odd.py"})
    if dice.random() < 0.7:
        _ask_for(dice, tree, name, kind)


def _ask_for(dice: Random, tree: Tree, name: str, kind: str) -> None:
    there = operations(tree)
    if not there:
        return
    if kind == "pyfunc":
        op = dice.choice(there)
        op["type"] = dice.choice(("PyFunc", "PyFuncStateless", "EagerPyFunc"))
        types = {"kind": "list", "value": [{"kind": "type", "value": "float32"}]}
        op["attrs"] = {"token": name, "Tin": types, "Tout": types}
    else:
        target = str(dice.choice(there).get("name"))
        tree.setdefault("request", {}).setdefault("overrides", []).append(
            {"gradient": name, "target": target, "kind": "op"}
        )


CHANGES: tuple[Change, ...] = (
    *(_request, _request, _optimizers, _breakpoints, _values, _values, _threads, _runs),
    *(_expectations, _words, _code),
)
