"""What a user wants to read besides results: `--quiet` and `--verbose`, which every command has."""

from dataclasses import dataclass


@dataclass(slots=True)
class _Spoken:
    """What is printed besides results and errors."""

    quiet: bool = False


spoken = _Spoken()


def be_quiet(quiet: bool) -> None:
    """Leave out progress and notes from now on; results and errors are printed."""
    spoken.quiet = quiet


def be_verbose(verbose: bool) -> None:
    """Print what the package logs from now on, such as waits for a server."""
    if verbose:
        import logging  # here, as every command imports this module

        logging.basicConfig(format="bestresponse: %(message)s")
        logging.getLogger("bestresponse").setLevel(logging.DEBUG)
