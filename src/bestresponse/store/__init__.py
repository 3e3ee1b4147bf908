"""Runs on disk: a folder with a manifest and append-only files, readable by any tool."""

from bestresponse.store.manifest import Manifest, environment
from bestresponse.store.run_folder import RunFolder, StoredPlay

__all__ = ["Manifest", "RunFolder", "StoredPlay", "environment"]
