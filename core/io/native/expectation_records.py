"""Expectations as the records of their document's file, and back."""

from __future__ import annotations

from gradstep.core.document.expectation import Expectation, Variation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import file_schema
from gradstep.core.io.native.attribute_records import TensorFiles, TensorSource, read_tensor


def write_expectation(e: Expectation, files: TensorFiles) -> file_schema.ExpectationRecord:
    return file_schema.ExpectationRecord(
        text=e.text,
        what=e.what,
        kind=e.kind,
        value=None if e.value is None else files.record(e.value),
        other=e.other,
        run=e.run,
        rtol=e.rtol,
        atol=e.atol,
        error=e.error,
        message=e.message,
        when=None if e.when == Variation() else _write_variation(e.when, files),
    )


def read_expectation(record: file_schema.ExpectationRecord, source: TensorSource) -> Expectation:
    """The inverse of `write_expectation`. Raises GradstepError."""
    try:
        return Expectation(
            text=record.text,
            what=record.what,
            kind=record.kind,
            value=None if record.value is None else read_tensor(record.value, source),
            other=record.other,
            run=record.run,
            rtol=record.rtol,
            atol=record.atol,
            error=record.error,
            message=record.message,
            when=Variation() if record.when is None else _read_variation(record.when, source),
        )
    except GradstepError as error:
        raise GradstepError(error.message, kind="FileError", hint=error.hint) from None


def _write_variation(v: Variation, files: TensorFiles) -> file_schema.VariationRecord:
    return file_schema.VariationRecord(
        feeds={name: files.record(value) for name, value in v.feeds.items()},
        initial={name: files.record(value) for name, value in v.initial.items()},
        of=[str(ref) for ref in v.of],
        wrt=[str(ref) for ref in v.wrt],
        fetches=[str(ref) for ref in v.fetches],
        targets=list(v.targets),
        overrides=v.overrides,
        stops=v.stops,
        device=v.device,
    )


def _read_variation(record: file_schema.VariationRecord, source: TensorSource) -> Variation:
    return Variation(
        feeds=_tensors(record.feeds, source),
        initial=_tensors(record.initial, source),
        of=_refs(record.of),
        wrt=_refs(record.wrt),
        fetches=_refs(record.fetches),
        targets=tuple(record.targets),
        overrides=record.overrides,
        stops=record.stops,
        device=record.device,
    )


def _tensors(
    records: dict[str, file_schema.TensorRecord], source: TensorSource
) -> dict[str, Constant]:
    return {name: read_tensor(record, source) for name, record in records.items()}


def _refs(names: list[str]) -> tuple[TensorRef, ...]:
    return tuple(TensorRef.parse(name) for name in names)
