"""`bestresponse serve`: play in a browser. `bestresponse experiment`: check an experiment file,
look at its pages, and let programs take part in it.
"""

import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from typing import ClassVar, Literal

import typer

import bestresponse as br
from bestresponse.cli.study_command import make_settings_command
from bestresponse.core.errors import BestResponseError, InvalidGame, UnknownModel, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.files import read_text
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.models.registry import open_model
from bestresponse.players.lookup import list_strategies
from bestresponse.report.files import write_bytes
from bestresponse.runs.inputs import NamesSetting
from bestresponse.runs.models import open_models
from bestresponse.runs.settings import OF_PLAYS, RunSettings, setting, settings

try:
    import uvicorn

    from bestresponse.games.parameters import list_parameters
    from bestresponse.web.app import ServerSettings, create_app, open_web_server, preload
    from bestresponse.web.experiments.phrases import write_text_table
    from bestresponse.web.experiments.reading import check_experiment, list_remarks
    from bestresponse.web.services.export import export_without_labels
    from bestresponse.web.services.pack import find_lobby_id, make_pack, replay_pack
    from bestresponse.web.sessions.journal import SESSIONS
    from bestresponse.web.sessions.lobbies import check_room
    from bestresponse.web.sessions.setup import GameChoice, list_homes, make_game
    from bestresponse.web.supervisor import can_supervise, supervise
    from bestresponse.web.texts import load_texts
    from bestresponse.web.trial import (
        TrialSettings,
        count_people,
        list_seated_models,
        render_preview,
        try_experiment,
    )
except ImportError as missing:
    why = f"this needs the extra `web` ({missing.name} is missing): {install_hint('web')}"
    raise UsageError(why) from None

_BACKLOG = 2048  # as uvicorn has it
_TOKEN = "BESTRESPONSE_ADMIN_TOKEN"
_GIVEN = "YOUR-ADMIN-TOKEN"
"""What is printed in the place of a token that was given: whoever gave it knows it, and logs are
read by others."""


@settings
class ServeConfig(RunSettings):
    """Open games to people in a browser. Prints the admin link; all data is stored in the
    output folder.

    Run the same command to resume every table.
    """

    host: str = setting(
        default="127.0.0.1",
        help="Address to listen on; any but localhost needs your own admin key.",
    )
    port: int = setting(
        default=8642,
        ge=0,
        le=65535,
        help="Port to listen on; 0 takes a free one.",
    )
    admin_token: str | None = setting(
        default=None,
        help=f"Admin key, at least 16 characters; safer: --admin-token-file, or set {_TOKEN}.",
    )
    admin_token_file: Path | None = setting(
        default=None, help="File with the admin key, which other users cannot see."
    )
    allowed_host: NamesSetting = setting(
        default=(),
        help="Name under which people reach the server, such as lab.example.org [default: any name"
        " if you listen on an address that others can reach, else localhost only].",
    )
    model: NamesSetting = setting(
        default=(),
        short="-m",
        help="Model that participants may meet [default: all installed local models].",
    )
    experiment: Path | None = setting(default=None)
    """Experiment file; its sessions are created once, and its link is printed."""
    room: str = setting(
        default="",
        help="With --experiment: the room that leads to it; its link stays the same for every"
        " experiment that you open in it.",
    )
    export: Path | None = setting(
        default=None,
        help="Write all tables into this folder as CSV, without the labels of participants, and"
        " end.",
    )
    unused: ClassVar[frozenset[str]] = OF_PLAYS


def open_to_people(config: ServeConfig) -> None:
    """Serve until somebody ends it, or write the tables of what was played."""
    output_dir = Path(config.output_dir)
    if config.export is not None:
        _export(output_dir, config.export)
        return
    admin_token = _find_admin_token(config)
    if config.room and config.experiment is None:
        raise UsageError("--room leads to an experiment; add --experiment FILE")
    if config.room:
        check_room(config.room)
    text = read_experiment(config.experiment) if config.experiment else ""
    pictures = config.experiment.parent / "pictures" if config.experiment else None
    server_settings = ServerSettings(
        output_dir,
        config.host,
        port=config.port,
        admin=admin_token,
        experiment=text,
        pictures=pictures,
        hosts=config.allowed_host,
    )
    ready = [model["name"] for model in br.list_models().rows if model["ready"]]
    installed = tuple(name for name in ready if name in WEIGHTS)
    seated = config.model or installed
    listener = _listen(config.host, config.port)
    app = create_app()

    def work(number: int) -> None:
        with open_models((), output_dir, config.limits) as opened:
            _, server, close = open_web_server(
                server_settings,
                opened.open,
                seated,
                app,
            )
            try:
                if number == 0:
                    key = _GIVEN if admin_token else server.keys.admin
                    print(f"your page, keep it secret: {_link(listener, f'/enter/{key}')}")
                    lobby = server.sessions.find_experiment(text) if text else None
                    if lobby is not None:
                        invitation = server.join_path(lobby.id)
                        if config.room:
                            server.sessions.open_room(config.room, lobby.id)
                            invitation = server.room_path(config.room)
                        print(f"participants: {_link(listener, invitation)}")
                    print("Press Ctrl+C to stop; run the same command to resume.", flush=True)
                served = uvicorn.Config(
                    app,
                    log_level="warning",
                    timeout_graceful_shutdown=2,
                    server_header=False,
                )
                running = uvicorn.Server(served)
                # Pages that wait for news are answered, so that nothing has to be broken off.
                server.is_ending = lambda: running.should_exit
                with suppress(KeyboardInterrupt):
                    running.run(sockets=[listener])
            finally:
                close()

    if can_supervise():
        raise typer.Exit(supervise(work, lambda: preload(app)))
    work(0)


def _export(output_dir: Path, folder: Path) -> None:
    """Write the tables of all sessions that others may read."""
    if not (output_dir / SESSIONS).is_dir():
        raise UsageError(f"{output_dir} holds no sessions; name the folder of `serve` by --output")
    _, server, close = open_web_server(ServerSettings(output_dir), open_model)
    try:
        _write_tables(folder, export_without_labels(server))
    finally:
        close()


def _find_admin_token(config: ServeConfig) -> str | None:
    """Find the admin's key: in a file, on the command line, or in the environment."""
    if config.admin_token is not None and config.admin_token_file is not None:
        raise UsageError("give --admin-token or --admin-token-file, not both")
    if config.admin_token_file is not None:
        return read_text(config.admin_token_file, _LARGEST_TOKEN).strip()
    if config.admin_token is not None:
        print(
            "Warning: other users of this machine can see --admin-token in the list of processes;"
            f" use --admin-token-file FILE or set {_TOKEN}.",
            file=sys.stderr,
            flush=True,
        )
        return config.admin_token
    return os.environ.get(_TOKEN)


_LARGEST_TOKEN = 1000
serve_command = make_settings_command(ServeConfig, open_to_people)


def read_experiment(path: Path) -> str:
    """Read and check an experiment file; UsageError where there is none, and InvalidGame with
    the line and the cause where it is wrong."""
    text = read_text(path)
    try:
        check_experiment(text, path.parent / "pictures")
    except UsageError as error:
        raise InvalidGame(f"{path}, {error}") from None
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
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port"
        ) from None
    return listener


@settings
class ExperimentConfig(RunSettings):
    """Test an experiment before you recruit participants, and pack its data.

    `game` lists a game's roles, parameters with their defaults, and strategies; with --text it
    prints the game's texts as a table for the file. `check` reports every error with its line and
    cause, and lists what people would still read in another language. `preview` writes every page
    of every role to one file. `bots` sends programs through the real pages and compares the stored
    answers with the bots' own log. `run` lets models take part: they read the same pages as people,
    answer the quiz, games and questionnaires, and appear in the same tables. `export`
    writes a replication pack: the file, everything people read, the journal, versions, and the
    tables with their codebook. `replay` makes the tables of a pack again from its journal and
    compares them byte by byte.
    """

    task: Literal["game", "check", "preview", "bots", "run", "export", "replay"] = setting(
        argument=True,
        help="What to do: game, check, preview, bots, run, export or replay.",
    )
    file: Path = setting(
        argument=True,
        help="The experiment file; game: the name of a game; export: the file or the id of its"
        " lobby; replay: the pack.",
    )
    people: int = setting(
        default=8,
        ge=1,
        le=2000,
        help="bots, run: number of participants.",
    )
    player: str = setting(
        default="strategy:random", help="bots: strategy:NAME, or model:NAME with --model."
    )
    drop_outs: int = setting(
        default=0,
        ge=0,
        le=100,
        help="bots: percentage of participants who drop out.",
    )
    speed: int = setting(
        default=100,
        ge=1,
        le=10_000,
        help="bots, preview: divide the time limits of the file by this.",
    )
    model: NamesSetting = setting(
        default=(),
        short="-m",
        help="A model that may be seated; run: the model that takes part.",
    )
    text: str = setting(
        default="",
        metavar="LANGUAGE",
        help="game: print its words and sentences in this language, for [games.text].",
    )
    output: Path | None = setting(
        default=None,
        short="-o",
        metavar="PATH",
        help="preview: the page to write; bots, run, replay: a folder for the exported tables;"
        " export: the replication pack [default: FILE-pack.zip].",
    )
    anonymous: bool = setting(
        default=False,
        help="export: write label-1, label-2, ... instead of the labels of participants.",
    )
    unused: ClassVar[frozenset[str]] = OF_PLAYS


def try_file(config: ExperimentConfig) -> None:
    """Describe a game, or check, preview or try a file."""
    file = config.file
    out = config.output
    if config.task == "game":
        choice = GameChoice(str(file))
        game = make_game(choice)
        if config.text:
            texts = load_texts(config.text).within(list_homes(choice))
            print(write_text_table(game, str(file), texts.language))
            return
        print(f"roles: {', '.join(game.roles)}")
        print(
            "\n".join(
                f"parameter {name} = {value!r}" for name, value in list_parameters(game).items()
            )
        )
        print(f"strategies: {', '.join(list_strategies(game))}")
        return
    if config.task == "export":
        _export_pack(config)
        return
    if config.task == "replay":
        _replay_pack(config)
        return
    text = read_experiment(file)
    if config.task == "check":
        named = list_seated_models(text)
        _check_models(file, named)
        print(
            f"{file} is right. People who fill one group of every treatment: {count_people(text)}."
        )
        if named:
            needed = " ".join(f"--model {shlex.quote(name)}" for name in named)
            print(f"It seats models: run `serve` and `bots` with {needed}.")
        for remark in list_remarks(text):
            print(remark)
        return
    trial_settings = _choose_settings(config, text)
    with open_models((), Path(config.output_dir), config.limits) as opened:
        trial = try_experiment(text, trial_settings, opened.open)
    if config.task == "preview":
        page = out or Path("preview.html")
        page.write_text(render_preview(file.stem, trial.pages), "utf-8")
        print(f"{page}: open it in a browser")
        return
    print("\n".join(trial.list_findings()))
    _write_tables(out, trial.files)
    if trial.wrong:
        raise typer.Exit(1)


def _write_tables(folder: Path | None, files: Mapping[str, bytes]) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_bytes(folder / name, content)
    print(f"tables are in {folder}")


def _export_pack(config: ExperimentConfig) -> None:
    folder = Path(config.output_dir) / SESSIONS
    text = read_experiment(config.file) if config.file.is_file() else None
    lobby = find_lobby_id(folder, str(config.file), text)
    pack, remarks = make_pack(folder, lobby, anonymous=config.anonymous)
    path = config.output or Path(f"{config.file.stem}-pack.zip")
    write_bytes(path, pack)
    print(f"{path}: {len(pack):,} bytes. Check it with `bestresponse experiment replay`.")
    for remark in remarks:
        print(remark)


def _replay_pack(config: ExperimentConfig) -> None:
    replay = replay_pack(config.file)
    for name in replay.tables:
        print(f"{name}: {replay.differences.get(name, 'the same, byte by byte')}")
    for remark in replay.remarks:
        print(remark)
    _write_tables(config.output, replay.tables)
    if replay.differences:
        raise typer.Exit(1)


def _choose_settings(config: ExperimentConfig, text: str) -> TrialSettings:
    if config.task != "run":
        return TrialSettings(
            people=config.people if config.task == "bots" else count_people(text),
            player=config.player,
            drop_outs=config.drop_outs,
            speed=config.speed,
            models=config.model,
        )
    if not config.model:
        raise UsageError("missing option --model NAME: the model that takes part in the experiment")
    seated = list_seated_models(text)
    return TrialSettings(
        people=config.people,
        speed=1,
        models=(*config.model, *seated),
        readers=config.model,
    )


def _check_models(file: Path, named: Iterable[str]) -> None:
    """Refuse a name that no model has; whether a model can be reached is seen when it is opened."""
    for name in named:
        if name in WEIGHTS:
            continue
        try:
            open_model(name)
        except UnknownModel as error:
            raise UsageError(f"{file}: {error}") from None
        except BestResponseError:
            continue  # there is such a model, and a key or a server is missing here


experiment_command = make_settings_command(ExperimentConfig, try_file)
