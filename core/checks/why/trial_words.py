"""The effect of an edit that was tried, in words and as a small table."""

from __future__ import annotations

from gradstep.core.checks.why.edit_trial import Effect, Trial, is_mended


def words_of_trial(trial: Trial) -> str:
    """The effect in a sentence or two."""
    before, after = trial.before, trial.after
    if after.error and not before.error:
        return f"It does not run then: {after.error}."
    name = trial.of.short
    values = _number(before.loss), _number(after.loss)
    changed = f"is {values[0]} without it, and {values[1]} with it"
    said = [f"{name} {f'stays {values[0]}' if values[0] == values[1] else changed}"]
    if trial.about is not None:
        lost = _lost(before), _lost(after)
        counted = f"{lost[0]} elements without it, and in {lost[1]} with it"
        said.insert(0, f"{trial.about.short} is NaN or infinite in {counted}")
    if before.elements or after.elements:
        said.append(f"its gradient {_gradient(before)} without, and {_gradient(after)} with it")
    whole = "; ".join(said)
    first = f", from run {trial.first + 1} on" if trial.first < trial.run else ""
    return f"In run {trial.run + 1}{first}, {whole}. {_verdict(before, after)}"


def _verdict(before: Effect, after: Effect) -> str:
    if is_mended(before, after):
        return "That mends it."
    if after == before:
        return "That changes nothing."
    if after.error:
        return f"It stops then, too: {after.error}."
    if after.broken + after.bad or after.missing or 0 < after.elements == after.zero:
        return "It is not mended by that alone."
    return "Nothing was broken; it is another gradient."


def _gradient(effect: Effect) -> str:
    if effect.elements == 0:
        return "is None"
    if effect.broken:
        return f"is NaN or infinite in {effect.broken} of {effect.elements} elements"
    zero = f", {effect.zero} of {effect.elements} elements 0" if effect.zero else ""
    none = f", None for {', '.join(effect.missing)}" if effect.missing else ""
    return f"has norm {_number(effect.norm)}{zero}{none}"


def _number(x: float | None) -> str:
    return "not there" if x is None else f"{x:.6g}".replace("nan", "NaN").replace("inf", "∞")


def rows_of(trial: Trial) -> list[tuple[str, str, str]]:
    """A small table: what, without, with."""
    a, b = trial.before, trial.after
    found = [(trial.of.short, _number(a.loss), _number(b.loss))]
    if trial.about is not None:
        found.insert(0, (f"NaN or infinite in {trial.about.short}", _lost(a), _lost(b)))
    if a.elements or b.elements or a.missing or b.missing:
        found += [
            ("norm of the gradient", _number(a.norm), _number(b.norm)),
            ("NaN or infinite", _share(a.broken, a), _share(b.broken, b)),
            ("exactly 0", _share(a.zero, a), _share(b.zero, b)),
            ("tensors with None", str(len(a.missing)), str(len(b.missing))),
        ]
    return found


def _lost(effect: Effect) -> str:
    return f"{effect.lost} of {effect.size}"


def _share(count: int, effect: Effect) -> str:
    return f"{count} of {effect.elements}"
