"""How a claim is written down: papers, claims, rows that are split into parts, corrections, failures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from shlex import quote
from typing import Any, Literal, TypeAlias, TypeVar

from tightdp.claims.brute import without_engine
from tightdp.claims.exactly import Exactly
from tightdp.claims.figures import Cell, Figure
from tightdp.claims.instances import Instance, coerced, instance_of, shown_instance
from tightdp.claims.sentences import as_measured, judged, shown
from tightdp.errors import ParameterError

Verdict: TypeAlias = Literal["decided", "argued", "holds on", "refuted", "corrected", "open"]
VERDICTS: tuple[Verdict, ...] = ("decided", "argued", "holds on", "refuted", "corrected", "open")

F = TypeVar("F", bound=Callable[..., Any])
Rows = TypeVar("Rows", bound=Callable[[], Iterable[Sequence[Cell]]])

Check: TypeAlias = Callable[..., Any]
"""Takes an instance as keyword arguments, returns the quantities that the formulas of the statement name: a mapping, or
several. The formulas decide."""
Proof: TypeAlias = Callable[[], None]
"""Runs the checked steps of an argument, which its docstring gives in words, with what is left to the reader."""


class Statement:
    """A statement with what decides it: an object that is decided as it stands, or a sentence with formulas.

    `given` are conditions that the instances satisfy for technical reasons, such as a rational close to a real.
    """

    def __init__(
        self,
        statement: str | Exactly,
        *,
        verdict: Verdict,
        instances: Iterable[Mapping[str, Any]] = (),
        quick: int | Iterable[Mapping[str, Any]] | None = None,
        check: Check | None = None,
        proof: Proof | None = None,
        given: str = "",
        minimal: str = "",
    ) -> None:
        if verdict not in VERDICTS:
            raise ParameterError(f"{verdict!r} is not a verdict", f"record one of {', '.join(VERDICTS)}")
        self.exact = statement if isinstance(statement, Exactly) else None
        self.text = statement.sentence if isinstance(statement, Exactly) else " ".join(statement.split())
        self.verdict = verdict
        self.check, self.proof, self.given = check, proof, given
        self.minimal = minimal or "the first that fails, in the order of the instances (smallest first)"
        self._full = tuple(coerced(instance) for instance in instances)
        if quick is None or isinstance(quick, int):
            self._quick = self._full[:quick]
        else:
            self._quick = tuple(coerced(instance) for instance in quick)

    def instances(self, quick: bool) -> tuple[Instance, ...]:
        """Return the instances of a full or of a quick run."""
        return self._quick if quick else self._full

    def __call__(self, check: F) -> F:
        """Set the check; so that a claim decorates it."""
        self.check = check
        return check


class Correction(Statement):
    """A statement that is true in place of a claim that is not, with its own verdict."""


@dataclass(frozen=True)
class Texts:
    """What the report says of a claim besides its verdict, in short Markdown."""

    breaks: str = ""
    stands: str = ""
    readings: str = ""
    notes: str = ""
    brief: str = ""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, cleandoc(getattr(self, name)))


class Claim(Statement):
    """A claim of a paper, as printed.

    `brute` measures again what refutes it, at the counterexample `at`, and shares no code with the check.
    """

    def __init__(
        self,
        paper: Paper,
        id: str,
        place: str,
        statement: str | Exactly,
        *,
        brute: Check | None = None,
        at: Mapping[str, Any] | None = None,
        corrected: Correction | None = None,
        disproof: Proof | None = None,
        extra: bool = False,
        unclaimed: bool = False,
        reason: str = "",
        texts: Texts,
        **decided: Any,
    ) -> None:
        super().__init__(statement, **decided)
        self.paper, self.id, self.place, self.texts = paper, id, place, texts
        self.brute, self.corrected, self.extra = brute, corrected, extra
        self.disproof, self.unclaimed = disproof, unclaimed
        self.at = None if at is None else coerced(at)
        self.reason = " ".join(reason.split())

    @property
    def command(self) -> str:
        """The line that recomputes the counterexample without the engine."""
        return f"tightdp claims {quote(self.paper.where)} --recheck {self.id}"

    def recomputed(self, instance: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]] | None:
        """Return how independent code finds that the claim fails at an instance (the recorded one); None if it
        holds."""
        if self.brute is None:
            raise ParameterError(f"{self.id} has no recomputation", "ask for a refuted claim")
        chosen = (self.at or {}) if instance is None else coerced(instance)
        try:
            with without_engine():
                measured = as_measured(self.brute(**chosen), chosen)
        except (TypeError, ValueError) as error:
            what = f"the recomputation of {self.id} does not cover {shown_instance(chosen)}: {error}"
            raise ParameterError(what, f"the recorded instance is {shown_instance(self.at or {})}") from error
        if self.disproof is not None:
            return "", measured[0]
        return judged(self.text, self.given, measured, chosen)

    def recheck(self, words: Sequence[str] = ()) -> bool:
        """Recompute it at KEY=VALUE ..., print what is found, and return whether it confirms the failure."""
        instance = instance_of(words)
        answer = self.recomputed(instance or None)
        at = shown_instance(instance or self.at or {})
        lines = [f"{self.paper.name} {self.id}{f' at {at}' if at else ''}", f"  {self.text}"]
        if answer is not None:
            lines += [f"  {name} = {shown(value)}" for name, value in answer[1].items()] + [f"  {answer[0]}"]
        lines.append("  independent code: it " + ("holds here" if answer is None else "fails here, too"))
        sys.stdout.write("\n".join([*(line for line in lines if line.strip()), ""]))
        return answer is not None


@dataclass(frozen=True)
class Row:
    """A printed claim that is decided in parts; its verdict combines theirs."""

    paper: Paper = field(repr=False)
    id: str
    place: str
    text: str
    parts: tuple[str, ...]
    texts: Texts


class Paper:
    """The claims of one paper, in order.

    `stands` says what still stands of its results, `left_out` which of its items are not among the claims, and why,
    `unsettled` which questions that came up are not answered, and what is known, `words` how the report is to name
    variables of instances, `symbols` what the symbols mean that it explains under every claim that uses them.
    """

    def __init__(
        self,
        name: str,
        *,
        title: str = "",
        stands: str = "",
        left_out: Mapping[str, str] | None = None,
        unsettled: Mapping[str, str] | None = None,
        words: Mapping[str, str] | None = None,
        symbols: Mapping[str, str] | None = None,
        file: str | None = None,
    ) -> None:
        self.name, self.title, self.stands = name, title, cleandoc(stands)
        self.words, self.left_out, self.unsettled = dict(words or {}), dict(left_out or {}), dict(unsettled or {})
        self.symbols = dict(symbols or {})
        self.file = Path(file or sys._getframe(1).f_globals.get("__file__", f"{name}.py"))
        self.items: list[Claim | Row] = []
        self.figures: list[Figure] = []

    def claim(self, id: str, place: str, statement: str | Exactly, **rest: Any) -> Claim:
        """Add a claim; the function that it decorates is its check. See docs/claims.md."""
        texts = Texts(**{name: rest.pop(name) for name in Texts.__dataclass_fields__ if name in rest})
        found = Claim(self, id, place, statement, texts=texts, **rest)
        self._add(found)
        return found

    def row(self, id: str, place: str, statement: str, *, parts: Sequence[str], **texts: str) -> Row:
        """Add a printed claim that is decided in parts: claims of their own with the ids `parts`."""
        found = Row(self, id, place, " ".join(statement.split()), tuple(parts), Texts(**texts))
        self._add(found)
        return found

    def _add(self, item: Claim | Row) -> None:
        if any(other.id == item.id for other in self.items):
            raise ParameterError(f"the claim {item.id} of {self.name} is written twice", "give every claim its own id")
        self.items.append(item)

    def sections(self, package: str, *names: str) -> None:
        """Import the modules of a package that add the claims, in this order."""
        for name in names:
            import_module(f"{package}.{name}")

    def figure(
        self, name: str, caption: str, header: Sequence[str], drawn: Sequence[str] = ()
    ) -> Callable[[Rows], Rows]:
        """Add a figure or table of the paper; the function that it decorates returns the rows."""

        def add(make: Rows) -> Rows:
            self.figures.append(Figure(name, caption, tuple(header), make, tuple(drawn)))
            return make

        return add

    def find(self, id: str) -> Claim | Row:
        """Return the claim or row with an id."""
        for item in self.items:
            if item.id == id:
                return item
        raise ParameterError(f"{self.name} has no claim {id}", f"it has {', '.join(item.id for item in self.items)}")

    def parts(self, row: Row) -> list[Claim]:
        """Return the parts of a row."""
        found = [self.find(part) for part in row.parts]
        return [part for part in found if isinstance(part, Claim)]

    @property
    def top(self) -> list[Claim | Row]:
        """The printed claims: all but the parts of rows."""
        parts = {part for item in self.items if isinstance(item, Row) for part in item.parts}
        return [item for item in self.items if item.id not in parts]

    @property
    def heading(self) -> str:
        """The name with the title."""
        return f"{self.name}: {self.title}" if self.title else self.name

    @property
    def where(self) -> str:
        """The path of the file, or of its package, as a reader in the root of the repository would type it."""
        path = self.file.resolve()
        if (path.parent / "__init__.py").is_file():
            path = path.parent
        for parent in path.parents:
            if (parent / "pyproject.toml").exists() or (parent / ".git").exists():
                return path.relative_to(parent).as_posix()
        return path.name

    def undivided(self, id: str) -> Claim:
        """Return the claim with an id. Raises ParameterError for a row, which is decided in parts."""
        found = self.find(id)
        if isinstance(found, Row):
            raise ParameterError(f"{id} is decided in parts", f"ask for one of {', '.join(found.parts)}")
        return found
