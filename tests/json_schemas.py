"""JSON Schemas of the answers, written from what the classes of results list: their keys, and the types of these."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any, ForwardRef, Literal, Union, get_args, get_origin, is_typeddict

import tightdp.results
from tightdp.exact.field import ExpNumber
from tightdp.results.answers import Unknown
from tightdp.results.audit import Validity
from tightdp.results.recorded import SCHEMA, Recorded
from tightdp.results.result import Result, Stats

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
RATIONAL = {"type": ["integer", "string"], "pattern": "^-?[0-9]+(/[0-9]+)?$"}
EXACT = {
    "description": "an integer, p/q, a number with powers of e, of an unknown a function of it, or inf",
    "type": ["integer", "string"],
}
FLOAT = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}
ERROR = {
    "type": "object",
    "properties": {
        "schema": {"const": SCHEMA},
        "tightdp": {"type": "string"},
        "error": {
            "type": "object",
            "properties": {
                "kind": {"type": "string"},
                "what": {"type": "string"},
                "hint": {"type": "string"},
                "place": {
                    "type": "object",
                    "properties": {
                        "file": {"type": "string"},
                        **{name: {"type": "integer"} for name in ("line", "column", "end_column")},
                        "text": {"type": "string"},
                    },
                    "required": ["file", "line", "column", "end_column", "text"],
                },
                "dataset": {"type": "string"},
            },
            "required": ["kind", "what", "hint"],
        },
    },
    "required": ["schema", "tightdp", "error"],
}
PLAIN: dict[Any, Schema] = {
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    float: FLOAT,
    Fraction: RATIONAL,
}
MODULES = [import_module(f"tightdp.results.{name}") for _, name, _ in pkgutil.iter_modules(tightdp.results.__path__)]


def kinds(base: Any) -> Iterator[Any]:
    """The subclasses of a class, of any depth."""
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def by_query() -> dict[str, list[Any]]:
    """The classes of answers, by the query that they answer."""
    found: dict[str, list[Any]] = {}
    for kind in sorted(set(kinds(Result)), key=lambda kind: kind.__name__):
        if hasattr(kind, "query") and is_dataclass(kind) and kind is not Unknown and kind.json:
            found.setdefault(kind.query, []).append(kind)
    return found


@cache
def names_of(module: types.ModuleType) -> dict[str, Any]:
    """The names of a module, with those that it imports for type checkers only."""
    found = {"ExpNumber": ExpNumber, "Fraction": Fraction, **vars(module)}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tightdp"):
            for alias in node.names:
                found.setdefault(alias.name, getattr(import_module(str(node.module)), alias.name, Any))
    return found


def hint(owner: Any, name: str) -> Any:
    """The type of what a class or function annotates by a name."""
    return named(owner.__annotations__[name], inspect.getmodule(owner))


def named(text: Any, module: Any) -> Any:
    """The type that an annotation stands for, also where that is an alias written as text."""
    while isinstance(text, (str, ForwardRef)):
        text = eval(text.__forward_arg__ if isinstance(text, ForwardRef) else text, names_of(module))
    return text


def type_of(kind: Any, path: str) -> Any:
    """The type of an attribute, property, or method without arguments; attributes of attributes are followed."""
    for name in path.split("."):
        options = [each for each in get_args(kind) if each is not type(None)] or [kind]
        kind = next((found for each in options if (found := _attribute(each, name)) is not None), Any)
    return kind


def _attribute(kind: Any, name: str) -> Any:
    found = inspect.getattr_static(kind, name, None)
    if isinstance(found, property):
        return hint(found.fget, "return")
    if inspect.isfunction(found):
        return hint(found, "return")
    for base in kind.__mro__:
        if name in getattr(base, "__annotations__", {}):
            return hint(base, name)
    raise AssertionError(f"{kind.__name__} has no {name}")


class Writer:
    """Writes schemas of types, and collects those of classes."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of the JSON of values of a type."""
        kind = named(kind, MODULES[0])
        if kind is ExpNumber:
            self.definitions["exact"] = EXACT
            return {"$ref": "#/$defs/exact"}
        origin, parts = get_origin(kind), get_args(kind)
        if kind in PLAIN:
            return PLAIN[kind]
        if origin in (Union, types.UnionType):
            return self.any_of([self.of(part) for part in parts])
        if origin is Literal:
            return {"enum": list(parts)}
        if origin is tuple and parts[-1:] != (...,):
            return {"type": "array", "prefixItems": [self.of(part) for part in parts], "items": False}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(parts[1])}
        if isinstance(origin, type) and issubclass(origin, (Sequence, Iterator)):
            return {"type": "array", "items": self.of(parts[0])}
        if isinstance(kind, type) and issubclass(kind, Recorded):
            every = sorted((each for each in {kind, *kinds(kind)} if each.json), key=lambda each: each.__name__)
            return self.any_of([self.reference(each, self.record) for each in every])
        if is_typeddict(kind):
            return self.reference(kind, self.typed)
        if is_dataclass(kind) and kind.__str__ is object.__str__:
            return self.reference(kind, self.plainly)
        return {}

    def any_of(self, options: list[Schema]) -> Schema:
        """Any of several schemas: numbers of all kinds are one of them."""
        flat = [part for each in options for part in each.get("anyOf", [each])]
        unique = [each for place, each in enumerate(flat) if each not in flat[:place]]
        if {} in unique:
            return {}
        if {"$ref": "#/$defs/exact"} in unique:
            unique = [each for each in unique if each is not RATIONAL]
        return unique[0] if len(unique) == 1 else {"anyOf": unique}

    def reference(self, kind: Any, write: Any) -> Schema:
        """A reference to the schema of a class, which is written when it is first needed."""
        name = kind.__name__
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = write(kind)
        return {"$ref": f"#/$defs/{name}"}

    def record(self, kind: Any) -> Schema:
        """The schema of a class that lists its keys."""
        found: dict[str, Schema] = {}
        needed: list[str] = []
        extra: Schema | None = None
        for word in kind.json.split():
            name, optional = word.rstrip("?"), word.endswith("?")
            if name.startswith("*"):
                spliced = type_of(kind, name[1:])
                if is_typeddict(spliced):
                    typed = self.typed(spliced)
                    found |= typed["properties"]
                    needed += typed.get("required", [])
                else:
                    extra = self.of(get_args(spliced)[1])
                continue
            key, _, path = name.rpartition("=")
            found[key or path] = self.of(type_of(kind, path))
            needed += [] if optional else [key or path]
        return self._object(kind, found, needed, extra)

    def typed(self, kind: Any) -> Schema:
        """The schema of a TypedDict."""
        found = {name: self.of(hint(kind, name)) for name in kind.__annotations__}
        return self._object(kind, found, sorted(kind.__required_keys__, key=list(found).index), None)

    def plainly(self, kind: Any) -> Schema:
        """The schema of a dataclass all of whose fields are written."""
        found = {each.name: self.of(hint(kind, each.name)) for each in fields(kind)}
        return self._object(kind, found, list(found), None)

    def _object(self, kind: Any, found: dict[str, Schema], needed: list[str], extra: Schema | None) -> Schema:
        unknown = kind.upper_keys() if hasattr(kind, "upper_keys") and "upper" in found else ()
        found = {key: self.any_of([each, {"type": "null"}]) if key in unknown else each for key, each in found.items()}
        said = {"title": kind.__name__, "type": "object", "properties": found, "required": needed}
        return said if extra is None else {**said, "additionalProperties": extra}


def answer_of(query: str, classes: Sequence[Any]) -> Schema:
    """The schema of the answers to a query."""
    writer = Writer()
    results = [writer.reference(kind, writer.record) for kind in classes]
    nothing = {"description": "a limit came before anything was known", "type": "object", "maxProperties": 0}
    common = {
        "query": {"const": query},
        "parameters": {"type": "object"},
        "status": {"enum": ["exact", "bounded", "unresolved"]},
        "result": writer.any_of([*results, nothing]),
        "reason": {"type": "string"},
        "hint": {"type": "string"},
        "stats": writer.of(Stats),
    }
    subject = {"mechanism": {"type": ["string", "null"]}, "runs": {"type": "string"}, "neighbours": {"type": "string"}}
    every = {"schema": {"const": SCHEMA}, "tightdp": {"type": "string"}, **common, **subject}
    needed = ["schema", "tightdp", "query", "mechanism", "parameters", "neighbours", "status", "result"]
    return written(query, {"type": "object", "properties": every, "required": needed}, writer)


def validity() -> Schema:
    """The schema of `validity`, which is about no mechanism."""
    writer = Writer()
    about = {"rule": PLAIN[str], "delta": RATIONAL, "significance": RATIONAL}
    every = {"tightdp": PLAIN[str], "query": {"const": "validity"}, **about, "result": writer.record(Validity)}
    return written("validity", {"type": "object", "properties": every, "required": list(every)}, writer)


def written(query: str, schema: Schema, writer: Writer) -> Schema:
    """The schema as a file has it."""
    title = f"tightdp {query} --json"
    return {"$schema": DRAFT, "title": title, **schema, "$defs": dict(sorted(writer.definitions.items()))}


def schemas() -> dict[str, Schema]:
    """All schemas, by the name of the query."""
    return {query: answer_of(query, classes) for query, classes in by_query().items()} | {
        "validity": validity(),
        "error": written("error", ERROR, Writer()),
    }
