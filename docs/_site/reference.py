"""Write the reference of the Python interface: one page a package, every public name with signature
and docstring."""

import dataclasses
import inspect
from importlib import import_module
from pathlib import Path

PACKAGES = (
    "bestresponse",
    "bestresponse.players",
    "bestresponse.games",
    "bestresponse.water",
    "bestresponse.dialogue",
    "bestresponse.stories",
    "bestresponse.reasoning",
    "bestresponse.rewards",
    "bestresponse.theory",
    "bestresponse.theory.catalogue",
    "bestresponse.theory.generators",
    "bestresponse.core",
    "bestresponse.models",
    "bestresponse.models.http",
    "bestresponse.formal",
    "bestresponse.formal.claims",
    "bestresponse.logic",
    "bestresponse.telling",
    "bestresponse.runs",
    "bestresponse.runs.executors",
    "bestresponse.report",
    "bestresponse.web",
    "bestresponse.integrations.pettingzoo.environments",
)


def write_reference(folder: Path) -> None:
    """Write all pages and their index into `folder`."""
    folder.mkdir(exist_ok=True)
    pages = {package: write_page(package) for package in PACKAGES if can_import(package)}
    for package, text in pages.items():
        (folder / f"{package}.md").write_text(text, "utf-8")
    index = [
        "# Python reference",
        "",
        "Generated from signatures and docstrings.",
        "",
        "```{toctree}",
        *pages,
        "```",
        "",
    ]
    (folder / "index.md").write_text("\n".join(index), "utf-8")


def can_import(package: str) -> bool:
    """Say whether a package and what it needs are installed."""
    try:
        import_module(package)
    except ImportError:
        return False
    return True


def write_page(package: str) -> str:
    """Return the page of one package."""
    module = import_module(package)
    parts = [
        f"# {package}",
        f"```{{py:currentmodule}} {package}\n```",
        inspect.getdoc(module) or "",
    ]
    parts += [describe(name, getattr(module, name)) for name in module.__all__]
    return "\n\n".join(parts) + "\n"


def describe(name: str, value: object) -> str:
    """Return the entry of one public name of the current module."""
    if inspect.ismodule(value):
        return f"## {name}\n\nThe package [{value.__name__}]({value.__name__}.md)."
    if inspect.isclass(value) and value.__name__ != name:
        return f"## {name}\n\n``````{{py:data}} {name}\n\nAn alias of `{value.__name__}`.\n``````"
    if inspect.isclass(value):
        members = [describe_member(attribute, member) for attribute, member in list_members(value)]
        body = "\n\n".join([show_docstring(value), *list_fields(value), *members])
        return f"## {name}\n\n``````{{py:class}} {name}{show_signature(value)}\n{body}\n``````"
    if callable(value):
        return (
            f"## {name}\n\n``````{{py:function}}"
            f" {name}{show_signature(value)}\n{show_docstring(value)}\n``````"
        )
    return f"## {name}\n\n``````{{py:data}} {name}\n:type: {type(value).__name__}\n``````"


def list_members(kind: type) -> list[tuple[str, object]]:
    """Return the public methods and properties that a class itself defines."""
    kinds = (property, classmethod, staticmethod)
    found = vars(kind).items()
    return [
        (name, one)
        for name, one in found
        if name[0] != "_" and (isinstance(one, kinds) or inspect.isfunction(one))
    ]


def describe_member(name: str, member: object) -> str:
    """Return the entry of a method or a property."""
    if isinstance(member, property):
        return f"`````{{py:property}} {name}\n{show_docstring(member)}\n`````"
    plain = getattr(member, "__func__", member)
    option = {classmethod: ":classmethod:\n", staticmethod: ":staticmethod:\n"}.get(
        type(member), ""
    )
    skip = 0 if isinstance(member, staticmethod) else 1
    return (
        "`````{py:method}"
        f" {name}{show_signature(plain, skip)}\n{option}\n{show_docstring(plain)}\n`````"
    )


def list_fields(kind: type) -> list[str]:
    """Return a line for the fields of a dataclass."""
    if not dataclasses.is_dataclass(kind):
        return []
    named = [
        f"`{field.name}`: `{show_type(field.type)}`"
        for field in dataclasses.fields(kind)
        if field.name[0] != "_"
    ]
    return ["Fields: " + ", ".join(named) + "."] if named else []


def show_type(annotation: object) -> str:
    """Return an annotation as it was written."""
    return (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
    )


class Written(str):
    """An annotation that shows itself without quotes."""

    def __repr__(self) -> str:
        return str(self)


def unquote(annotation: object) -> object:
    """Return an annotation in a form that is shown as it was written."""
    return Written(annotation) if isinstance(annotation, str) else annotation


def show_signature(value: object, skip: int = 0) -> str:
    """Return the parameters with their types; defaults that do not show themselves become an
    ellipsis."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = []
    for parameter in list(signature.parameters.values())[skip:]:
        default = parameter.default
        if default is not parameter.empty and ("<" in repr(default) or len(repr(default)) > 40):
            parameter = parameter.replace(default=...)
        shown.append(parameter.replace(annotation=unquote(parameter.annotation)))
    signature = signature.replace(
        parameters=shown, return_annotation=unquote(signature.return_annotation)
    )
    return str(signature).replace("Ellipsis", "...").replace("\n", " ")


def show_docstring(value: object) -> str:
    """Return a docstring as Markdown: examples become blocks of code."""
    lines, fenced = [], False
    for line in (inspect.getdoc(value) or "").splitlines():
        if line.startswith(">>>") and not fenced:
            lines.append("```pycon")
            fenced = True
        elif not line.strip() and fenced:
            lines.append("```")
            fenced = False
        lines.append(line)
    return "\n".join([*lines, "```"] if fenced else lines)
