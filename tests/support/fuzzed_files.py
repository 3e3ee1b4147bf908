"""Files that others might send, changed by chance, and everything that reads them.

`attempt` changes one of the files of a reader and lets it read: nothing but a result or a sentence
may come of it. The same seed makes the same file.
"""

import csv
import gzip
import io
import json
import os
import shutil
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from recorded_plays import HEADER, MAPPING
from unhashed import add_hashes

from bestresponse import core
from bestresponse.core.errors import BestResponseError

EXAMPLES = Path(__file__).parents[2] / "examples"
PACKAGE = Path(core.__file__).parents[1]
NAMED_GAMES = PACKAGE / "formal" / "evaluate" / "named_games.toml"
PERSONAS = PACKAGE / "players" / "llm" / "texts" / "personas.toml"


@dataclass(frozen=True)
class Reader:
    """What reads a folder of files, the right files by their names, how often it is drawn, and
    which of its files are changed."""

    name: str
    read: Callable[[Path], object]
    files: Mapping[str, bytes]
    often: float
    changed: tuple[str, ...] = ()

    @property
    def targets(self) -> list[str]:
        """The files that are changed, all of them by default."""
        return sorted(self.changed or self.files)


@dataclass(frozen=True)
class Attempt:
    """One file that was read: whose it was, what it was called, and what went wrong, if
    anything."""

    seed: int
    reader: str
    file: str
    wrong: str = ""
    said: str = ""


# What is read


ROWS = """1,1,x,y,C,C,3,3,base
1,2,x,y,C,D,0,5,base
2,1,x,z,D,D,1,1,base
"""
DOMAIN = PACKAGE / "games" / "dialogue" / "domains" / "meeting.toml"
RULES = b"""days = 4
low = 10
high = 20
residents = [["Alex", 8, 70], ["Bob", 9, 75]]
"""
STORY = b"""[[stories]]
name = "fair"
game = "prisoners-dilemma"
text = "Two suspects are questioned."
"""
AGENT = {"name": "me", "game": "game(x).", "rules": "select(P, O, S, c)."}
SHEET = b"sample,first_correct,last_correct,error_kinds\n1,0,1,pa#pc\n2,1,1,\n"
WATER_SHEET = b"judge,game,resident,information,remark\nme,1,Alex,4,\nme,1,Bob,5,x\n"
SETTINGS = {
    "simulate": 'game = "stag-hunt"\nrepeats = 3\nseed = 1\n[seat]\nrow = "random"\ncol = "A"\n',
    "bench": 'model = ["smollm2"]\nnum_games = 5\nnum_rows = 3\nfamily = "zero-sum"\n',
    "tournament": 'games = ["prisoners-dilemma"]\nentries = ["tit-for-tat", "random"]\nrounds = 10\n',
    "water": 'model = "need"\nrepeats = 2\n[seat]\nEric = "myopic"\n',
}
AKATA = {
    "games.csv.gz": (
        "game_number,game_row,game_col,game_name,game_family,r1_c1_p1,r1_c1_p2,r1_c2_p1,r1_c2_p2,"
        "r2_c1_p1,r2_c1_p2,r2_c2_p1,r2_c2_p2\n1,1,1,Hegemony,Unfair,3,4,2,3,4,2,1,1\n"
    ),
    "rounds.csv.gz": (
        "game_number,game_name,round,player1,player2,answer1,answer2,points1,points2,total1,total2,"
        'choice_option1,choice_option2,option_order\n1,Hegemony,10,act_a,act_b,J,F,2,3,30,20,J,F,"[0'
        ', 1]"\n'
    ),
    "pd.csv.gz": (
        "round,player1,player2,answer1,answer2,points1,points2,total1,total2\n"
        "1,act_gpt4,act_defect_once,J,F,0,10,0,10\n2,act_gpt4,act_defect_once,F,J,10,0,10,10\n"
    ),
    "bos.csv.gz": (
        "round,player1,player2,answer1,answer2,points1,points2,total1,total2\n"
        "1,act_gpt4,act_jf,J,F,0,0,0,0\n2,act_gpt4,act_jf,J,J,10,7,10,7\n"
    ),
    "people.csv.gz": "id,game,action,score,opponent,guess,coordination\n"
    + "".join(
        f"{who},{game},1,8,{rival},LLM,0\n"
        for who in (1, 2)
        for game in ("PD", "BoS")
        for rival in ("Base", "Prompted")
    ),
}
FAIRGAME = {
    "games.csv.gz": (
        "language,n_rounds_is_known,agent1_llm,agent1_personality,agent1_strategies,agent1_scores,"
        "agent2_llm,agent2_personality,agent2_strategies,agent2_scores,game,payoff_type\n"
        "en,True,a,cooperative,\"['OptionA', 'OptionB']\",\"[6, 10]\",b,selfish,"
        "\"['OptionA', 'OptionA']\",\"[6, 0]\",prisoner-dilemma,conventional\n"
    )
}
DILEMMA = {
    "dilemma.csv.gz": (
        "match,study,treatment,period,move,other_before,R,S,T,P,delta,error,infinite\n"
        "1,DF,1.0,1,C,,0.12,0.0,0.17,0.07,0.5,0.0,1.0\n1,DF,1.0,2,D,C,0.12,0.0,0.17,0.07,0.5,0,1.0\n"
    )
}
WATER_DAY = {
    "persona": False,
    "low": 10,
    "high": 20,
    "number": 1,
    "day": 1,
    "supply": 19,
    "bids": {"Alex": 40.0, "Bob": 45.0, "Cindy": 40.0, "David": 95.0, "Eric": 105.0},
    "winners": ["Eric"],
    "after": {
        name: {"balance": 70.0, "hp": 7, "dry_days_plus_one": 2}
        for name in ("Alex", "Bob", "Cindy", "David", "Eric")
    },
}
WATER_REPLY = {key: WATER_DAY[key] for key in ("persona", "low", "high", "number", "day")} | {
    "who": "Alex",
    "reply": "I bid $40.",
    "bid": 40.0,
}
SAMPLE = {
    "id": "1",
    "model": "m",
    "game": "hd",
    "repetition": 0,
    "attempts": [{"n": 0, "response": "I choose R.", "queries": []}],
}


LELMA = {
    "samples.jsonl": json.dumps(SAMPLE).encode() + b"\n",
    "matrices.json": b'{"hd": {"RR": [0, 0], "RB": [5, 1], "BR": [1, 5], "BB": [3, 3]}}',
    "query_verdicts.json": b'{"hd": {"a": "true"}}',
}


def use(place: str) -> Callable[..., Any]:
    """Return a function by its module and name; the module is imported when it is called, so that a
    reader alone takes no memory for the others."""
    module, _, name = place.partition(":")

    def call(*arguments: object, **settings: object) -> Any:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found(*arguments, **settings)

    return call


load_run = use("bestresponse.runs.run:load_run")
read_toml = use("bestresponse.core.files:read_toml")


def read_import(folder: Path) -> object:
    """Import the rows of a folder by the mapping in it; a file of rows that is missing is named as
    CSV."""
    found = sorted(path for path in folder.iterdir() if path.name.startswith("rows."))
    rows = found[0] if found else folder / "rows.csv"
    mapping = str(folder / "my.toml")
    return use("bestresponse:import_plays")(rows, mapping=mapping, output_dir=folder / "runs")


def read_settings(folder: Path) -> object:
    """Read settings as `bestresponse run` does, without running anything."""
    data = dict(read_toml(folder / "settings.toml"))
    study = use("bestresponse.runs.study:find_study")(str(data.pop("study", "simulate")))
    return study.estimate(study.config(**data))


def read_adviser(folder: Path) -> object:
    """Read what a run advises."""
    return use("bestresponse.studies.steer.advising:open_adviser")("meeting", find_run(folder))


def find_run(folder: Path) -> Path:
    """Return the run of a folder, which may be beside the dialogues that it speaks of."""
    below = sorted(folder.glob("steer-*"))
    return below[0] if below else folder


def summarise_run(folder: Path) -> object:
    return load_run(find_run(folder)).summary()


def publish_run(folder: Path) -> object:
    return load_run(find_run(folder)).publish()


def replay_run(folder: Path) -> object:
    return load_run(find_run(folder)).replay()


def merge_run(folder: Path) -> object:
    merge = use("bestresponse.runs.store.merge:merge_runs")
    return merge([find_run(folder)], folder.parent / "merged")


def behave_run(folder: Path) -> object:
    output = folder.parent / "behaved"
    return use("bestresponse:behave")([folder], output_dir=output, bootstraps=20)


def reproduce(paper: str) -> Callable[[Path], object]:
    return lambda folder: use("bestresponse:reproduce")(paper, folder)


def named(name: str, place: str) -> Callable[[Path], object]:
    """Read one file of the folder by the function at a place."""
    return lambda folder: use(place)(folder / name)


def pack_rows(kind: str) -> dict[str, bytes]:
    """Return rows in a file of this kind, and the mapping."""
    text = HEADER + ROWS
    rows = list(csv.DictReader(io.StringIO(text)))
    match kind:
        case "parquet":
            import pyarrow as pa
            from pyarrow import parquet

            sink = io.BytesIO()
            parquet.write_table(pa.Table.from_pylist(rows), sink)
            content = sink.getvalue()
        case "csv":
            content = text.encode()
        case "csv.gz":
            content = gzip.compress(text.encode(), mtime=0)
        case _:
            content = json_lines(*rows)
    return {f"rows.{kind}": content, "my.toml": MAPPING.encode()}


def pack_tables(tables: Mapping[str, str]) -> dict[str, bytes]:
    return {name: gzip.compress(text.encode(), mtime=0) for name, text in tables.items()}


def json_lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


KEPT = (".json", ".jsonl", ".toml", "", ".txt", ".md")
"""Files of a run that are read again, by their ending: its pages and tables are not."""


def write_right_files(place: Path) -> None:
    """Make a small run of every study, to be changed."""
    from sample_runs import MAKERS

    from bestresponse.studies.improve.export import ExportConfig, export

    runs = place / "runs"
    for name, (make, _) in MAKERS.items():
        made = make(runs / f"{name}-whole").path
        if name == "steer":
            load_run(made).publish()  # writes what it advises
        # The dialogues of a steered run lie beside it.
        shutil.copytree(made.parent if name == "steer" else made, runs / name)
        shutil.rmtree(runs / f"{name}-whole")
    rows = place / "rows"
    rows.mkdir()
    for name, content in pack_rows("csv").items():
        (rows / name).write_bytes(content)
    (rows / "runs").mkdir()
    read_import(rows).path.rename(runs / "import")  # type: ignore[attr-defined]
    settings = ExportConfig(place / "export", sizes="2", count=4)
    export(settings)


def read_right_run(folder: Path) -> dict[str, bytes]:
    """Return the files of a run that are read again."""
    kept = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in KEPT and "plays" not in path.parts:
            kept[path.relative_to(folder).as_posix()] = path.read_bytes()
    return kept


EVALUATE = "bestresponse.formal.evaluate"
IMPROVE = "bestresponse.studies.improve"


def list_readers(right: Path) -> tuple[Reader, ...]:
    """List everything that reads files of others; `right` holds what `write_right_files` made.

    What takes long is drawn less often.
    """
    return (
        *list_game_readers(),
        *list_text_readers(),
        *list_table_readers(),
        *list_run_readers(right),
        Reader(
            "export",
            use(f"{IMPROVE}.data:open_export"),
            read_right_run(right / "export"),
            often=20,
        ),
    )


def list_run_readers(right: Path) -> Iterator[Reader]:
    """Yield what reads the folders of runs."""
    for folder in sorted((right / "runs").iterdir()):
        files = read_right_run(folder)
        study = folder.name
        yield Reader(f"summary of {study}", summarise_run, files, often=0.3)
        yield Reader(f"report of {study}", publish_run, files, often=0.1)
        yield Reader(f"replay of {study}", replay_run, files, often=3)
        if study != "steer":  # it has no plays to merge
            yield Reader(f"merge of {study}", merge_run, files, often=3)
        if study in ("simulate", "tournament", "bench", "import"):
            yield Reader(f"behave of {study}", behave_run, files, often=0.05)
        if study == "steer":
            own = {name: files[name] for name in files if name.startswith("steer-")}
            changed = tuple(name for name in own if "advi" in name or "manifest" in name)
            yield Reader("adviser", read_adviser, own, often=20, changed=changed)


def list_game_readers() -> Iterator[Reader]:
    """Yield what reads games."""
    from bestresponse.theory.catalogue.tables import load
    from bestresponse.theory.catalogue.trees import load_tree
    from bestresponse.theory.files.efg import format_efg
    from bestresponse.theory.files.nfg import format_nfg

    payoffs = [[[1, 2], [3, 4]], [[0, 1], [2, 5]]]
    games = {
        "nfg": format_nfg(load("stag-hunt")),
        "efg": format_efg(load_tree("kuhn-poker")),
        "json": json.dumps({"players": ["a", "b"], "tables": payoffs}),
        "pl": (EXAMPLES / "programs" / "two_stalls.pl").read_text("utf-8"),
    }
    for ending, text in games.items():
        yield Reader(
            f"game .{ending}",
            named(f"game.{ending}", "bestresponse.games.lookup:find_game"),
            {f"game.{ending}": text.encode()},
            often=0.5 if ending == "pl" else 60,
        )


def list_table_readers() -> Iterator[Reader]:
    """Yield what reads tables and lines of records."""
    for kind in ("csv", "csv.gz", "jsonl", "parquet"):
        yield Reader(f"import .{kind}", read_import, pack_rows(kind), often=6)
    yield Reader("reproduce akata", reproduce("akata"), pack_tables(AKATA), often=15)
    yield Reader("reproduce fairgame", reproduce("fairgame"), pack_tables(FAIRGAME), often=30)
    yield Reader("reproduce dilemma", reproduce("dilemma"), pack_tables(DILEMMA), often=40)
    water = {"rounds.jsonl": json_lines(WATER_DAY), "replies.jsonl": json_lines(WATER_REPLY)}
    yield Reader("reproduce alympics", reproduce("alympics"), water, often=0.2)
    yield Reader("reproduce lelma", reproduce("lelma"), LELMA, often=10)
    yield Reader(
        "rated sheets",
        lambda folder: use("bestresponse.studies.verify.ratings:read_rated_sheets")(folder, ()),
        {"sheet-rater-1.csv": SHEET},
        often=40,
    )
    yield Reader(
        "water sheets",
        lambda folder: use("bestresponse.studies.water.judging:read_sheets")([folder / "s.csv"]),
        {"s.csv": WATER_SHEET},
        often=40,
    )


def list_text_readers() -> Iterator[Reader]:
    """Yield what reads settings, experiments and other descriptions."""
    for study, text in SETTINGS.items():
        files = {"settings.toml": f'study = "{study}"\n{text}'.encode()}
        yield Reader(f"settings of {study}", read_settings, files, often=20)
    for path in sorted((EXAMPLES / "experiments").glob("*.toml")):
        files = {"experiment.toml": path.read_bytes()}
        read = named("experiment.toml", "bestresponse.cli.commands.serve:read_experiment")
        yield Reader(f"experiment {path.stem}", read, files, often=3)
    agent = json.dumps(AGENT).encode()
    for name, place, content, often in (
        ("my.toml", "bestresponse.games.dialogue.domain:load_domain", DOMAIN.read_bytes(), 40),
        ("p.toml", "bestresponse.players.llm.agent:read_personas", PERSONAS.read_bytes(), 40),
        ("s.toml", f"{EVALUATE}.dataset:read_stories", STORY, 40),
        ("n.toml", f"{EVALUATE}.validation:read_named_games", NAMED_GAMES.read_bytes(), 20),
        ("a.json", "bestresponse.formal.strategies.agents:Agent.load", agent, 30),
        ("a.json", "bestresponse.studies.tournament.entries:read_strategy", agent, 20),
    ):
        yield Reader(place.rpartition(":")[2], named(name, place), {name: content}, often)
    rules = use("bestresponse.games.water.rules:WaterRules.from_json")
    yield Reader(
        "water rules", lambda folder: rules(read_toml(folder / "w.toml")), {"w.toml": RULES}, 40
    )


# How it is changed


PIECES = [
    *"()[]{}|,.;:-_'\"\\%!\n\t0 1aZ=#é\u202e",
    "\0",
    "\ufeff",
    "99999999999999999999",
    "1/0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "null",
    "true",
    '{"a":',
    "[[[[[[[[",
    "[[files]]\n",
    "= {}\n",
    "../../x",
    "\r\n",
]
VALUES: list[object] = [
    None,
    [],
    {},
    [[1]],
    "text",
    "",
    -1,
    0,
    1e308,
    10**400,
    True,
    0.5,
    float("nan"),
    {"a": []},
    ["a", 1],
    "../x",
    2**63,
]
TOML_VALUES = [
    "1",
    "-1",
    "[]",
    '""',
    '"x"',
    "{}",
    "nan",
    "true",
    "[[1]]",
    "1e400",
    "2026-01-01",
    '["a"]',
]


def spoil(name: str, content: bytes, rng: Random) -> bytes:
    """Change a file in a way that fits its kind, or none."""
    if name.endswith(".gz") and rng.random() < 0.8:
        return gzip.compress(spoil(name.removesuffix(".gz"), gzip.decompress(content), rng))
    if name.endswith(".zip") and rng.random() < 0.9:
        return spoil_archive(content, rng)
    how = rng.random()
    if how < 0.15 or name.endswith((".gz", ".parquet", ".zip")):
        return spoil_bytes(content, rng)
    text = content.decode("utf-8", "replace")
    if how < 0.7:
        if name.endswith((".json", ".jsonl")):
            return spoil_json(text, rng).encode("utf-8", "surrogatepass")
        if name.endswith(".toml"):
            return spoil_toml(text, rng).encode("utf-8", "surrogatepass")
        if name.endswith(".csv"):
            return spoil_table(text, rng).encode("utf-8", "surrogatepass")
    if how < 0.95:
        return spoil_text(text, rng).encode("utf-8", "surrogatepass")
    return replace_whole(content, rng)


def spoil_archive(content: bytes, rng: Random) -> bytes:
    """Change, drop or rename a file of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(files))
    inside = files.pop(name)
    match rng.randrange(8):
        case 0:
            pass
        case 1:
            files[rng.choice(["../x", "/x", "journal", name + "x"])] = inside
        case _:
            files[name] = spoil(name, inside, rng)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, inside in files.items():
            archive.writestr(name, inside)
    return made.getvalue()


def spoil_bytes(content: bytes, rng: Random) -> bytes:
    """Change, drop or double some bytes."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice((0, 1, 4, 100)))
        piece = rng.choice((b"", b"\xff", b"\0", rng.randbytes(4), content[start : start + 50] * 2))
        content = content[:start] + piece + content[end:]
        if rng.random() < 0.2:
            content = content[: rng.randrange(len(content) + 1)]
    return content


def spoil_text(text: str, rng: Random) -> str:
    """Change a text in one to four places."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 1, 3, 30)))
        taken = rng.randrange(len(text) + 1)
        piece = rng.choice((rng.choice(PIECES), "", text[taken : taken + rng.choice((2, 10, 80))]))
        text = text[:start] + piece + text[end:]
    return text


def spoil_json(text: str, rng: Random) -> str:
    """Put a value of another kind somewhere into JSON, or into one of its lines."""
    lines = [text]
    with suppress(ValueError):
        if len(text.splitlines()) > 1 and json.loads(text.splitlines()[0]) is not None:
            lines = text.splitlines(keepends=True)
    number = rng.randrange(len(lines) or 1)
    try:
        data = json.loads(lines[number])
    except (ValueError, IndexError):
        return spoil_text(text, rng)
    lines[number] = json.dumps(damage(data, rng)) + "\n"
    if rng.random() < 0.1:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return "".join(lines)


def damage(data: object, rng: Random) -> object:
    """Put another value somewhere into JSON data, or drop or rename a key."""
    if not isinstance(data, dict | list) or not data or rng.random() < 0.15:
        return rng.choice(VALUES)
    if isinstance(data, dict):
        key = rng.choice(sorted(data))
        match rng.randrange(10):
            case 0:
                del data[key]
            case 1:
                data[rng.choice(["x", "", key + "x", "__class__"])] = data.pop(key)
            case _:
                data[key] = damage(data[key], rng)
        return data
    place = rng.randrange(len(data))
    if rng.random() < 0.1:
        data.append(data[place])
    else:
        data[place] = damage(data[place], rng)
    return data


def spoil_toml(text: str, rng: Random) -> str:
    """Give a key another value, or drop, double or move a line."""
    lines = text.splitlines(keepends=True)
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(lines))
        key, sign, _ = lines[place].partition("=")
        match rng.randrange(6):
            case 0:
                del lines[place]
            case 1:
                lines.insert(rng.randrange(len(lines) + 1), lines[place])
            case 2:
                lines[place] = spoil_text(lines[place], rng)
            case _ if sign:
                lines[place] = f"{key}= {rng.choice(TOML_VALUES)}\n"
            case _:
                lines[place] = rng.choice(["[x]\n", "[[games]]\n", "[[files]]\n", "x = 1\n"])
        if not lines:
            break
    return "".join(lines)


def spoil_table(text: str, rng: Random) -> str:
    """Give a cell another value, or drop or double a row or a column."""
    rows = list(csv.reader(io.StringIO(text))) or [[""]]
    row = rng.randrange(len(rows))
    column = rng.randrange(len(rows[row]) or 1)
    match rng.randrange(8):
        case 0:
            del rows[row]
        case 1:
            rows.insert(rng.randrange(len(rows) + 1), rows[row])
        case 2:
            rows = [cells[:column] + cells[column + 1 :] for cells in rows]
        case 3:
            rows[row].append("x")
        case _ if rows[row]:
            rows[row][column] = rng.choice(
                ["", "x", "-1", "nan", "1e400", "é", "[", "[1]", "9" * 30]
            )
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue()


def replace_whole(content: bytes, rng: Random) -> bytes:
    """Make something else of a file."""
    match rng.randrange(8):
        case 0:
            return b""
        case 1:
            return b"\xef\xbb\xbf" + content
        case 2:
            return content.decode("utf-8", "replace").encode("utf-16")
        case 3:
            return b"[" * 100_000
        case 4:
            return b'{"a":' * 20_000
        case 5:
            return b"x" * 3_000_000
        case 6:
            return content * 20
        case _:
            return b"\0" * 1000


def place_file(path: Path, content: bytes, rng: Random) -> None:
    """Write the changed file; now and then it is a link, a pipe, a folder or a hole instead."""
    match rng.randrange(100):
        case 0:
            path.symlink_to(Path(__file__))
        case 1:
            os.mkfifo(path)
        case 2:
            path.mkdir()
        case 3:
            path.touch()
            os.truncate(path, 10 << 30)
        case 4:
            pass  # it is missing
        case _:
            path.write_bytes(content)


def attempt(reader: Reader, seed: int) -> Attempt:
    """Let a reader read a folder with one changed file."""
    rng = Random(f"{reader.name} {seed}")
    target = rng.choice(reader.targets)
    changed = spoil(target, reader.files[target], rng)
    if target.endswith(".jsonl") and rng.random() < 0.5:
        changed = add_hashes(changed)  # or what it holds would never be looked at
    with TemporaryDirectory(prefix="fuzz") as place:
        folder = Path(place) / "given"
        for name, content in reader.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name == target:
                place_file(path, changed, rng)
            else:
                path.write_bytes(content)
        said, wrong = read_or_explain(reader, folder)
        shutil.rmtree(place, ignore_errors=True)
    return Attempt(seed, reader.name, target, wrong, said)


def read_or_explain(reader: Reader, folder: Path) -> tuple[str, str]:
    """Return the sentence with which a reader refuses a folder, and the trace of what it did not
    expect; both are empty where it reads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(folder)
    except BestResponseError as error:
        return str(error), ""
    except OSError as error:
        # The command shows it as a sentence, if there is one.
        return str(error), "" if error.strerror else traceback.format_exc()
    except Exception:  # noqa: BLE001 - this is what is looked for
        return "", traceback.format_exc()
    return "", ""
