"""Reading a .pt2, which torch.export.save writes, without PyTorch: its program, a foreign graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.free_names import take_free_name
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.traces.aliases import Aliases
from gradstep.core.io.traces.aten_defaults import defaults_of
from gradstep.core.io.traces.pt2_archive import Pt2Archive, bad
from gradstep.core.io.traces.pt2_arguments import names_of, read_argument, read_type
from gradstep.core.io.traces.torch_frames import own_files, source_lines
from gradstep.core.lowering.foreign_graph import (
    ForeignGraph,
    ForeignInput,
    ForeignNode,
    ForeignRef,
    ForeignResult,
    ForeignSubgraph,
    ForeignTensor,
    SourceLine,
)

_UNFIT = re.compile(r"[^A-Za-z0-9_.\-]+")  # for the name of a scope
_PLACEMENT = frozenset({"device", "pin_memory", "layout", "memory_format", "non_blocking"})
_CHECKS = ("_assert", "sym_constrain", "_guards", "sym_size_check")
_GRAD_MODE = "wrap_with_set_grad_enabled"
_CONTROL = {  # arguments of branches and loops: docs/trace-format.md
    "cond": ("predicate", "true", "false", "operands"),
    "while_loop": ("condition", "body", "carried", "constants"),
    "scan": ("body", "carried", "items", "constants"),
}
_NUMBER = ForeignTensor("int64", ())  # a size, as an output
_KINDS = {
    "parameter": "parameter_name",
    "buffer": "buffer_name",
    "tensor_constant": "tensor_constant_name",
}
_CHANGING_NORMS = ("aten.batch_norm.", "aten.native_batch_norm.", "aten._native_batch_norm_legit.")
_TRAINED_NORM = "aten._native_batch_norm_legit_functional.default"


def from_bytes(data: bytes, name: str = "", budget: Budget | None = None) -> ForeignGraph:
    """The graph of a .pt2's bytes; `name` is the file's, for messages. Raises GradstepError:
    FileError, or OverBudgetError where it takes more memory than `budget` allows."""
    try:
        return _graph(Pt2Archive(data, budget))
    except GradstepError as error:
        raise inside(name or "the program", error, kind="FileError") from None


def _graph(archive: Pt2Archive) -> ForeignGraph:
    try:
        return _Program(archive).graph()
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise bad(f"is not as PyTorch writes it ({what:.80})") from None


class _Program:
    """One exported program, read operation by operation."""

    def __init__(self, archive: Pt2Archive) -> None:
        self._archive, self._told = archive, archive.program
        module = self._told["graph_module"]
        self._body, self._signature = module["graph"], module["signature"]
        self._found: dict[str, Any] = {}  # what each name of the graph's stands for
        self._aliases = Aliases()
        self._buffers: dict[str, str] = {}  # name in the graph -> what it is called
        self._places: dict[tuple[str, str], str] = {}  # where a weight lies -> its first name
        self._tied: dict[str, list[str]] = {}  # weight -> its further names
        self._taken: set[str] = set()
        self._nodes: list[ForeignNode] = []  # of the graph that is being read
        self._is_inside = False  # a branch or a loop
        self._files: set[str] = set()
        self._title = ""

    def graph(self) -> ForeignGraph:
        inputs = [*self._inputs()]
        tied = {name: tuple(others) for name, others in self._tied.items()}
        inputs = [replace(one, aliases=tied.get(one.name, ())) for one in inputs]
        self._read(self._body)
        version = str(self._told.get("torch_version") or "")
        return ForeignGraph(
            framework=f"torch {version}".strip(),
            title=self._title,
            inputs=tuple(inputs),
            nodes=tuple(self._nodes),
            results=tuple(self._results()),
            symbols={
                name: (told.get("min_val"), told.get("max_val"))
                for name, told in self._told["range_constraints"].items()
            },
            paths={file: file for file in sorted(self._files)},
        )

    # -- what it begins with ------------------------------------------------------------------

    def _inputs(self) -> Iterator[ForeignInput]:
        for spec in self._signature["input_specs"]:
            ((kind, told),) = spec.items()
            argument = told["arg"] if kind != "user_input" else _only(told["arg"])
            if not isinstance(argument, dict) or not argument.get("name"):
                continue  # a number that is given: the graph has it where it is used
            if kind != "parameter" or not self._is_tied(argument["name"], told["parameter_name"]):
                yield self._input(argument["name"], kind, told)

    def _is_tied(self, name: str, weight: str) -> bool:
        """Whether a weight is another name of one that was before; it stands for that, then."""
        place = self._archive.place(weight)
        first = self._places.setdefault(place, name)
        if first != name:
            self._found[name] = self._found[first]
            self._tied.setdefault(self._found[first].node, []).append(weight)
        return first != name

    def _input(self, name: str, kind: str, told: dict[str, Any]) -> ForeignInput:
        kinds = {"user_input": "input", "tensor_constant": "constant"}
        own = self._unique(told[_KINDS[kind]] if kind in _KINDS else name)
        self._found[name] = ForeignRef(own)
        tensor = read_type(self._body["tensor_values"][name])
        if kind not in _KINDS:
            return ForeignInput(own, "input", tensor)
        value = self._archive.weight(told[_KINDS[kind]])
        tensor = ForeignTensor(tensor.dtype, value.shape, value)
        if kind == "buffer":
            self._buffers[name] = own
        trained = kind == "parameter" and self._body["tensor_values"][name]["requires_grad"]
        return ForeignInput(own, kinds.get(kind, kind), tensor, trained)

    # -- operations ---------------------------------------------------------------------------

    def _read(self, body: Mapping[str, Any], detached: bool = False) -> None:
        """The nodes of a graph. detached: no gradient goes through it."""
        for node in body["nodes"]:
            target = node["target"].removeprefix("torch.ops.")
            if _GRAD_MODE in target:
                self._inline(node)
            elif not any(word in target for word in _CHECKS):
                self._node(node, target, body, detached)

    def _inline(self, node: Mapping[str, Any]) -> None:
        """What `with torch.no_grad()` holds, where it stands."""
        enabled, inner, *given = (one["arg"] for one in node["inputs"])
        body = inner["as_graph"]["graph"]
        outside = dict(self._found)
        for own, argument in zip(body["inputs"], given, strict=True):
            (name,) = names_of(own)
            self._found[name] = read_argument(argument, self._find)
        self._read(body, detached=not enabled["as_bool"])
        results = [self._found.get(name) for one in body["outputs"] for name in names_of(one)]
        self._found = outside
        names = [name for one in node["outputs"] for name in names_of(one)]
        self._found |= dict(zip(names, results, strict=True))

    def _node(
        self, node: Mapping[str, Any], target: str, body: Mapping[str, Any], detached: bool
    ) -> None:
        metadata = node.get("metadata") or {}
        stack = _modules(metadata.get("nn_module_stack") or "")
        self._title = self._title or (stack[0][1] if stack else "")
        op, args, outputs = _op_name(target), self._arguments(node), self._outputs(node, body)
        if op.startswith(_CHANGING_NORMS) and args.get("training") and args.get("running_mean"):
            op, outputs = _TRAINED_NORM, self._with_averages(args, outputs)
        base, variant = op.split(".")[1], op.partition(".")[2].partition(".")[2]
        in_place = base.endswith("_") and not base.endswith("__")
        functional = base.rstrip("_") if in_place else base
        is_module = stack and stack[-1][0] and not self._is_inside
        path = stack[-1][0].split(".") if is_module else []
        name = self._unique("/".join([*path, functional]))
        made = ForeignNode(
            name=name,
            op=f"{op.split('.')[0]}.{functional}.{variant}",
            args=args,
            outputs=tuple(tensor for _, tensor in outputs),
            module=stack[-1][1] if len(stack) > 1 else "",
            lines=self._lines(metadata.get("stack_trace") or ""),
        )
        self._nodes.append(made)
        results = [ForeignRef(name, i) for i in range(len(outputs))]
        if detached:
            results = [self._stop(made, i) for i in range(len(outputs))]
        given = [one for each in node["inputs"] for one in _tensor_names(each["arg"])]
        named = [own for own, _ in outputs if own]
        self._found |= {own: r for (own, _), r in zip(outputs, results, strict=True) if own}
        if in_place and given:
            self._aliases.change(given[0], named[0] if named else given[0])
            self._found[given[0]] = results[0]
        else:
            self._aliases.note(base, given, named)

    def _arguments(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """By name, those that are left out included: the file has them only where they differ."""
        names: Sequence[str] = [
            one["name"] or f"arg{number}" for number, one in enumerate(node["inputs"])
        ]
        if "higher_order" in node["target"]:
            names = _CONTROL.get(node["target"].rpartition(".")[2], names)
        given = {
            name: self._argument(one["arg"])
            for name, one in zip(names, node["inputs"], strict=False)
            if name not in _PLACEMENT
        }
        return {**defaults_of(node["target"]), **given}

    def _argument(self, told: dict[str, Any]) -> Any:
        if "as_graph" in told:
            return self._subgraph(told["as_graph"]["graph"])
        return read_argument(told, self._find)

    def _subgraph(self, body: Mapping[str, Any]) -> ForeignSubgraph:
        """The function of a branch or a loop, whose names are its own."""
        outside = self._found, self._nodes, self._aliases, self._is_inside
        given = [name for one in body["inputs"] for name in names_of(one)]
        inputs = [self._unique(name) for name in given]
        self._found = {name: ForeignRef(own) for name, own in zip(given, inputs, strict=True)}
        self._nodes, self._aliases, self._is_inside = [], Aliases(), True
        self._read(body)
        types = [_type_in(body, name) for name in given]
        results = [read_argument(one, self._find) for one in body["outputs"]]
        nodes = tuple(self._nodes)
        self._found, self._nodes, self._aliases, self._is_inside = outside
        return ForeignSubgraph(tuple(inputs), tuple(types), nodes, tuple(results))

    def _find(self, name: str) -> Any:
        if name not in self._found:
            raise bad(f"takes '{name:.60}', which is not before")
        if self._aliases.is_stale(name):
            raise GradstepError(
                f"'{name}' is a view of a tensor that is changed in place before it is used",
                kind="FileError",
                hint="save the program without changes in place: "
                "torch.export.save(program.run_decompositions({}), path)",
            )
        return self._found[name]

    def _outputs(
        self, node: Mapping[str, Any], body: Mapping[str, Any]
    ) -> list[tuple[str, ForeignTensor]]:
        """The name in the graph, "" for none, and the type of each."""
        names = [name for one in node["outputs"] for name in names_of(one)]
        return [(name, _type_in(body, name)) for name in names]

    def _with_averages(
        self, args: Mapping[str, Any], outputs: Sequence[tuple[str, ForeignTensor]]
    ) -> list[tuple[str, ForeignTensor]]:
        """The outputs of the operation that gives what `batch_norm` changes in place; its names are
        those of the buffers from here on."""
        kept = {ref: name for name, ref in self._found.items() if isinstance(ref, ForeignRef)}
        mean, var = (kept[args[key]] for key in ("running_mean", "running_var"))
        channels = read_type(self._body["tensor_values"][mean])
        return [outputs[0], ("", channels), ("", channels), (mean, channels), (var, channels)]

    def _stop(self, node: ForeignNode, output: int) -> ForeignRef:
        """What a node gives, with no gradient back."""
        name = self._unique(f"{node.name.rpartition('/')[0]}/detach".lstrip("/"))
        args = {"self": ForeignRef(node.name, output)}
        told = node.outputs[output]
        self._nodes.append(
            ForeignNode(name, "aten.detach.default", args, (told,), node.module, node.lines)
        )
        return ForeignRef(name)

    def _lines(self, trace: str) -> tuple[SourceLine, ...]:
        found = source_lines(trace)
        self._files |= own_files(found)
        return found

    # -- what it gives ------------------------------------------------------------------------

    def _results(self) -> Iterator[ForeignResult]:
        for spec, told in zip(self._signature["output_specs"], self._body["outputs"], strict=True):
            ((kind, more),) = spec.items()
            found = [self._found.get(name) for name in names_of(told)]
            if kind == "buffer_mutation":
                yield ForeignResult("update", self._found[names_of(told)[0]], more["buffer_name"])
            elif kind in ("user_output", "loss_output"):
                result = "loss" if kind == "loss_output" else "output"
                yield from (ForeignResult(result, r) for r in found if isinstance(r, ForeignRef))
        for name, own in self._buffers.items():
            if self._found[name] != ForeignRef(own):  # changed in place
                yield ForeignResult("update", self._found[name], own)

    def _unique(self, name: str) -> str:
        fit = "/".join(_UNFIT.sub("_", part) or "_" for part in name.split("/"))
        return take_free_name(fit, self._taken)


def _type_in(body: Mapping[str, Any], name: str) -> ForeignTensor:
    types = body["tensor_values"]
    return read_type(types[name]) if name in types else _NUMBER


def _only(told: dict[str, Any]) -> Any:
    ((_, value),) = told.items()
    return value


def _op_name(target: str) -> str:
    """ "aten.linear.default"; "python.mul" for arithmetic on sizes."""
    space, _, name = target.partition(".")
    if space == "higher_order":
        return f"control.{name}"
    return target if space != "_operator" and name.count(".") else f"python.{name or space}"


def _tensor_names(told: dict[str, Any]) -> list[str]:
    return [name for name in names_of(told) if name]


def _modules(stack: str) -> list[tuple[str, str]]:
    """The path and the class of each module around an operation, the outermost first."""
    found = [entry.split(",", 2) for entry in stack.split(";") if entry.count(",") > 1]
    return [(path.partition("@")[0], kind.rpartition(".")[2]) for _, path, kind in found]
