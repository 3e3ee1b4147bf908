"""Listen, open the web app with its models, and keep it running."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket

import uvicorn

from bestresponse.core.errors import UsageError
from bestresponse.core.files import read_text_file
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.models.registry import known_models, read_default_settings
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.web.app import ServerSettings, create_app, open_web_server, preload
from bestresponse.web.experiments.model import check_experiment
from bestresponse.web.supervisor import can_supervise, supervise

_BACKLOG = 2048


_GIVEN = "YOUR-ADMIN-TOKEN"
"""What is printed in the place of a token that was given: whoever gave it knows it, and logs are read by others."""


def run_server(
    host: str,
    port: int,
    admin_token: str | None,
    models: tuple[str, ...],
    experiment: Path | None,
    output_dir: Path,
    limits: ModelLimits,
) -> int | None:
    """Serve until interrupted; return the exit code of the supervised server, None where it ran in this process."""
    text = read_experiment(experiment) if experiment else ""
    pictures = experiment.parent / "pictures" if experiment else None
    server_settings = ServerSettings(output_dir, host, port, admin_token, text, pictures)
    seated = models or _list_local_models()
    listener = _listen(host, port)
    app = create_app()

    def work(number: int) -> None:
        with open_models((), output_dir, limits) as opened:
            _, server, close = open_web_server(server_settings, opened.open, seated, app)
            try:
                if number == 0:
                    key = _GIVEN if admin_token else server.keys.admin
                    print(_link(listener, f"/enter/{key}"), flush=True)
                    lobby = server.sessions.find_experiment(text) if text else None
                    if lobby is not None:
                        print(_link(listener, server.join_path(lobby.id)), flush=True)
                config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2, server_header=False)
                with suppress(KeyboardInterrupt):
                    uvicorn.Server(config).run(sockets=[listener])
            finally:
                close()

    if can_supervise():
        return supervise(work, lambda: preload(app))
    work(0)
    return None


def read_experiment(path: Path) -> str:
    """Read and check an experiment file; UsageError with the file, the line and the cause."""
    try:
        text = read_text_file(path)
        check_experiment(text)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except UsageError as error:
        raise UsageError(f"{path}, {error}") from None
    return text


def _link(listener: socket, path: str) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"


def _listen(host: str, port: int) -> socket:
    """Create the socket with IPPROTO_TCP so that TCP_NODELAY applies."""
    listener = socket(AF_INET6 if ":" in host else AF_INET, SOCK_STREAM, IPPROTO_TCP)
    listener.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port") from None
    return listener


def _list_local_models() -> tuple[str, ...]:
    """Models whose weights are on this machine."""
    return tuple(known.name for known in known_models(read_default_settings()) if known.ready and known.name in WEIGHTS)
