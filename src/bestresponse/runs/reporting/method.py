"""The section of a report that says how the run can be done again."""

from __future__ import annotations

import json
from collections.abc import Container

from bestresponse.report.document import Block, Code, KeyValues, Section
from bestresponse.runs.store.manifest import Manifest


def method_section(manifest: Manifest, *more: Block, without: Container[str] = ()) -> Section:
    """Build the section with command, versions, models and settings; `without` names settings that are too long."""
    environment = manifest.environment
    packages = ", ".join(f"{name} {version}" for name, version in environment.get("packages", {}).items())
    settings = {name: value for name, value in manifest.config.items() if name not in without}
    about = (
        ("run", manifest.run),
        ("begun", manifest.created),
        ("python", environment.get("python")),
        ("platform", environment.get("platform")),
        ("packages", packages),
        ("revision", environment.get("revision") or "an installed release"),
        ("models", json.dumps(manifest.models, ensure_ascii=False, sort_keys=True) if manifest.models else "none"),
    )
    return Section(
        "How it was done",
        (
            Code(" ".join(manifest.command), "sh"),
            KeyValues(about),
            Code(json.dumps(settings, indent=2, ensure_ascii=False), "json"),
            *more,
        ),
    )
