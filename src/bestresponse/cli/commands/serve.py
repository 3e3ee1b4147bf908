"""`bestresponse serve`: play in a browser. `bestresponse experiment`: check an experiment file, look at its pages, and
let programs take part in it.
"""

from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from typing import Annotated

import typer

from bestresponse.cli.options import BudgetCalls, BudgetMoney, BudgetTokens, CacheChoice, OutputDir
from bestresponse.core.errors import UsageError
from bestresponse.core.files import read_text_file
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.models.registry import known_models, read_default_settings
from bestresponse.players.lookup import list_strategies
from bestresponse.runs.models import ModelLimits, open_models

try:
    import uvicorn

    from bestresponse.web.app import ServerSettings, create_app, open_web_server, preload
    from bestresponse.web.experiments.model import check_experiment
    from bestresponse.web.sessions.setup import GameChoice, list_parameters, make_game
    from bestresponse.web.supervisor import can_supervise, supervise
    from bestresponse.web.trial import TrialSettings, count_people, render_preview, try_experiment
except ImportError as missing:
    raise UsageError(f"this needs the extra `web`: pip install 'bestresponse[web]' ({missing.name})") from None

_BACKLOG = 2048
_TOKEN = "BESTRESPONSE_ADMIN_TOKEN"
_GIVEN = "YOUR-ADMIN-TOKEN"
"""What is printed in the place of a token that was given: whoever gave it knows it, and logs are read by others."""


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; beyond this machine only with --admin-token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)] = 8642,
    admin_token: Annotated[
        str | None, typer.Option(help="The admin's key, 16 characters or more.", envvar=_TOKEN, show_envvar=True)
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="A model that may be seated; may be repeated. [default: those at hand]"),
    ] = None,
    experiment: Annotated[
        Path | None, typer.Option(help="An experiment file; its sessions are created once, and its link is printed.")
    ] = None,
    output_dir: OutputDir = Path("results"),
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_total_tokens: BudgetTokens = None,
    max_cost: BudgetMoney = None,
) -> None:
    """Open games to people in a browser. Prints the admin's link; everything is kept below the output folder.

    The same command goes on with every table where it was stopped.
    """
    limits = ModelLimits(None, cache, max_calls, max_total_tokens, max_cost)
    text = read_experiment(experiment) if experiment else ""
    pictures = experiment.parent / "pictures" if experiment else None
    server_settings = ServerSettings(output_dir, host, port, admin_token, text, pictures)
    here = [m["name"] for m in known_models(read_default_settings()) if m["ready"] and m["name"] in WEIGHTS]
    seated = tuple(model or here)
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
        raise typer.Exit(supervise(work, lambda: preload(app)))
    work(0)


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


class ExperimentTask(StrEnum):
    """What is done with the file."""

    GAME = "game"
    CHECK = "check"
    PREVIEW = "preview"
    BOTS = "bots"


def experiment(
    task: Annotated[ExperimentTask, typer.Argument(help="Describe a game, or check, preview or try a file.")],
    file: Annotated[Path, typer.Argument(help="The experiment file, or the name of a game.")],
    people: Annotated[int, typer.Option(help="bots: how many take part.", min=1, max=2000)] = 8,
    player: Annotated[
        str, typer.Option(help="bots: who they are: strategy:NAME, or model:NAME with --model.")
    ] = "strategy:random",
    drop_outs: Annotated[int, typer.Option(help="bots: how many of 100 leave for good.", min=0, max=100)] = 0,
    speed: Annotated[int, typer.Option(help="Divide the time limits of the file by this.", min=1, max=10_000)] = 100,
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="A model that may be seated.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="preview: the page to write; bots: a folder for the exported tables.")
    ] = None,
    output_dir: OutputDir = Path("results"),
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_total_tokens: BudgetTokens = None,
    max_cost: BudgetMoney = None,
) -> None:
    """Try an experiment before people come.

    `game` lists roles, parameters with their usual values, and strategies. `check` names the line and the cause of
    what is wrong. `preview` writes every page of every role on one sheet. `bots` sends programs through the real
    pages and compares what the server kept with their own notes.
    """
    if task == ExperimentTask.GAME:
        found = make_game(GameChoice(str(file)))
        print(f"roles: {', '.join(found.roles)}")
        print("\n".join(f"parameter {name} = {value!r}" for name, value in list_parameters(found).items()))
        print(f"strategies: {', '.join(list_strategies(found))}")
        return
    text = read_experiment(file)
    if task == ExperimentTask.CHECK:
        print(f"{file} is right. People who fill one group of every treatment: {count_people(text)}.")
        return
    count = people if task == ExperimentTask.BOTS else count_people(text)
    settings = TrialSettings(count, player, drop_outs, speed, tuple(model or ()))
    limits = ModelLimits(None, cache, max_calls, max_total_tokens, max_cost)
    with open_models((), output_dir, limits) as opened:
        trial = try_experiment(text, settings, opened.open)
    if task == ExperimentTask.PREVIEW:
        page = out or Path("preview.html")
        page.write_text(render_preview(file.stem, trial.pages), "utf-8")
        print(f"{page}: open it in a browser")
        return
    print("\n".join(trial.list_findings()))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in trial.files.items():
            (out / name).write_bytes(content)
        print(f"tables are in {out}")
    if trial.wrong:
        raise typer.Exit(1)
