"""Reads templates as a type checker does: which names they use, and which attributes of these.

What cannot be told from annotations counts as right: arguments of macros, results of most filters,
unions of classes, settings that take more than they keep.
"""

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import Enum

from jinja2 import Environment, nodes

from bestresponse.runs.inputs import Converted

_KEEP = {"reverse", "list", "sort", "unique", "select", "reject", "selectattr", "rejectattr"}
"""Filters that return values of the kind they are given."""
_BY_NAME = {"selectattr", "rejectattr"}


def list_subclasses(model):
    """List the models that have a template, however far below."""
    below = [one for child in model.__subclasses__() for one in [child, *list_subclasses(child)]]
    return [one for one in below if "template" in vars(one)]


def parse(environment, name):
    return environment.parse(environment.loader.get_source(environment, name)[0], name)


def list_together(environment, name):
    """List a template with those that share its names: what it extends and includes."""
    tree = parse(environment, name)
    names = [name]
    for node in tree.find_all((nodes.Extends, nodes.Include)):
        names += list_together(environment, node.template.value)
    return names


def list_defined(tree):
    """List what a template defines for all of its blocks: macros, imports and variables."""
    defined = set()
    for node in tree.body:
        match node:
            case nodes.Macro():
                defined.add(node.name)
            case nodes.Import():
                defined.add(node.target)
            case nodes.Assign():
                defined |= {name.name for name in node.find_all(nodes.Name) if name.ctx == "store"}
    return defined


def find_free(environment, name):
    """Find the names that a template does not define itself."""
    reader = _Reader()
    for one in list_together(environment, name):
        reader.read_template(one, parse(environment, one), {})
    return reader.free


def list_faults(environment, model):
    """List attributes that a template uses and the classes of the model's fields do not have."""
    hints = _read_hints(model)
    known = {field.name: hints[field.name] for field in fields(model)}
    reader = _Reader()
    for one in list_together(environment, model.template):
        reader.read_template(one, parse(environment, one), known)
    return reader.faults


def _read_hints(cls):
    """Return the annotations of a class; `Any` for those that name what is imported for checkers
    only."""
    hints = {}
    for base in reversed(cls.__mro__):
        for name, note in vars(base).get("__annotations__", {}).items():
            try:
                hints[name] = typing.get_type_hints(
                    types.SimpleNamespace(__annotations__={name: note}),
                    vars(__import__(base.__module__, fromlist=["x"])),
                )[name]
            except (NameError, TypeError):
                hints[name] = typing.Any
    return hints


def _strip_none(kind):
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        rest = [one for one in typing.get_args(kind) if one is not type(None)]
        return rest[0] if len(rest) == 1 else typing.Any
    return kind


def _find_element(kind):
    """Return what a loop over a value of that kind gives."""
    origin = typing.get_origin(kind)
    args = typing.get_args(kind)
    if not isinstance(origin, type) or not args:
        return typing.Any
    if origin is tuple:
        return args[0] if len(args) == 2 and args[1] is ... else typing.Any
    return args[0] if issubclass(origin, Sequence | Mapping) else typing.Any


class _Reader:
    """Goes through templates with the kinds of the names that are `known` where it is."""

    def __init__(self):
        self.free = set()
        self.faults = []
        self._template = ""

    def read_template(self, name, tree, known):
        self._template = name
        self._read_children(tree, known | dict.fromkeys(list_defined(tree), typing.Any))

    def read(self, node, known):
        """Go through a statement or an expression; return the kind of its value."""
        match node:
            case nodes.Name():
                if node.name not in known:
                    self.free.add(node.name)
                return known.get(node.name, typing.Any)
            case nodes.Getattr():
                return self._find_attribute(self.read(node.node, known), node.attr, node.lineno)
            case nodes.Getitem():
                self.read(node.arg, known)
                return self._find_item(self.read(node.node, known), node.arg)
            case nodes.Call():
                return self._read_call(node, known)
            case nodes.Filter():
                return self._read_filter(node, known)
            case nodes.For():
                self._read_loop(node, known)
            case nodes.Assign():
                self._bind(node.target, self.read(node.node, known), known)
            case nodes.Macro():
                inside = known | {argument.name: typing.Any for argument in node.args}
                self._read_children(node, inside)
            case nodes.FromImport() | nodes.Import():
                pass
            case _:
                self._read_children(node, known)
        return typing.Any

    def _read_children(self, node, known):
        for child in node.iter_child_nodes():
            self.read(child, known)

    def _read_call(self, node, known):
        for argument in (*node.args, *node.kwargs):
            self.read(argument, known)
        match node.node:
            case nodes.Getattr(node=owner, attr="items" | "values" | "get" as method):
                kind = _strip_none(self.read(owner, known))
                origin = typing.get_origin(kind)
                if isinstance(origin, type) and issubclass(origin, Mapping):
                    key, value = typing.get_args(kind)
                    if method == "get":
                        return value
                    return list[tuple[key, value]] if method == "items" else list[value]
        self.read(node.node, known)
        return typing.Any

    def _read_filter(self, node, known):
        kind = self.read(node.node, known) if node.node is not None else typing.Any
        for argument in (*node.args, *node.kwargs):
            self.read(argument, known)
        if node.name in _BY_NAME:
            self._find_attribute(_find_element(kind), node.args[0].value, node.lineno)
        return kind if node.name in _KEEP else typing.Any

    def _read_loop(self, node, known):
        inside = known | {"loop": typing.Any}
        kind = _strip_none(self.read(node.iter, known))
        self._bind(node.target, _find_element(kind), inside)
        if node.test is not None:
            self.read(node.test, inside)
        for child in (*node.body, *node.else_):
            self.read(child, inside)

    def _bind(self, target, kind, known):
        match target:
            case nodes.Name():
                known[target.name] = kind
            case nodes.Tuple():
                kinds = typing.get_args(kind) if typing.get_origin(kind) is tuple else ()
                for number, part in enumerate(target.items):
                    fits = len(kinds) == len(target.items) and ... not in kinds
                    self._bind(part, kinds[number] if fits else typing.Any, known)

    def _find_item(self, kind, index):
        kind = _strip_none(kind)
        origin = typing.get_origin(kind)
        if isinstance(index, nodes.Slice):
            return kind
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return typing.get_args(kind)[1]
        return _find_element(kind)

    def _find_attribute(self, kind, name, line):
        kind = _strip_none(kind)
        origin = typing.get_origin(kind)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return typing.get_args(kind)[1]  # of a mapping, a template may name a key so
        if not isinstance(kind, type) or not kind.__module__.startswith("bestresponse."):
            return typing.Any
        hints = _read_hints(kind)
        if name in hints or issubclass(kind, Enum):
            hint = hints.get(name, typing.Any)
            is_converted = isinstance(hint, type) and issubclass(hint, Converted)
            return typing.Any if is_converted else hint
        if not hasattr(kind, name):
            self.faults.append(f"{self._template}:{line}: {kind.__name__} has no {name}")
            return typing.Any
        attribute = getattr(kind, name)
        getter = attribute.fget if isinstance(attribute, property) else None
        return typing.get_type_hints(getter).get("return", typing.Any) if getter else typing.Any


def read_text(text, known):
    """Return the names that a text uses beside the known ones, and attributes that these lack."""
    reader = _Reader()
    reader.read_template("text", Environment(autoescape=False).parse(text), known)
    return reader.free, reader.faults
