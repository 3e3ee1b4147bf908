"""The command line. One command a file; nothing heavy is imported before a command runs."""

from bestresponse.cli.app import main

__all__ = ["main"]
