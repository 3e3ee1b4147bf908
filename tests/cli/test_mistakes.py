"""Typical mistakes: each ends in a sentence that says what to type, never in a trace."""

import pytest

MISTAKES = [
    # commands
    ("solv stag-hunt", "there is no command 'solv'. Did you mean solve?"),
    ("nash stag-hunt", "Equilibria are found by `bestresponse solve GAME`."),
    ("water", "`bestresponse simulate water`"),
    ("stories", "It is a study: `bestresponse run stories`."),
    (
        "play prisoners-dilemma --others grim",
        "the strategy 'grim' replies to earlier rounds, and prisoners-dilemma has one only",
    ),
    ("simulate stag-hunt --model nomodel", "`bestresponse models` lists models."),
    ("--solve stag-hunt", "bestresponse has no option --solve."),
    ("run", "Usage: bestresponse run"),
    ("run simulat", "there is no study named 'simulat'. Did you mean simulate?"),
    ("run simulate", "missing GAME: "),
    ("help", "For help, type `bestresponse COMMAND --help`."),
    ("equilibrium stag-hunt", "Equilibria are found by `bestresponse solve GAME`."),
    ("serve stag-hunt", "serve takes no further word, got 'stag-hunt'. `bestresponse serve"),
    ("models openia", "No such command 'openia'; bestresponse models has pull."),
    ("games prisoner", "games takes no further word, got 'prisoner'. `bestresponse games --help`"),
    # names that options had
    ("train --model smollm2", "It is typed without a name: train MODEL."),
    ("bench --actions 3", "Games of `bench` have --num-rows and --num-cols."),
    ("bench --parallel 2", "How many plays run at once is --workers."),
    ("bench --settings colour=red", "there is no setting 'colour' here. --help lists all."),
    ("steer debate --wordings 2", "steer takes wordings as a setting: --settings wordings=VALUE."),
    ("bench --max-calls 3", "Limits are one option: --budget '200 calls'."),
    ("solve chicken --plot x.svg", "It is called --output, or -o."),
    ("bench --settings wordngs=2", "--settings: there is no setting 'wordngs' here."),
    ("bench --settings seed=2", "seed is an option: --seed."),
    ("bench --settings llm_seed", "--settings llm_seed needs a value: --settings llm_seed=VALUE"),
    ("bench --quiet=yes", "--quiet takes no value: type --quiet alone, or leave it out"),
    ("bench --budget", "--budget needs a value: --budget LIMITS"),
    ("solve chicken -o", "-o needs a value: -o FILE"),
    ("solve chicken --picture x.svg", "It is called --output, or -o."),
    ("bench --model vlm/x", "Did you mean vllm/x?"),
    (
        "bench --budget 3",
        "--budget: expected limits such as '200 calls, 1000000 tokens, 3 dollars'",
    ),
    ("bench --budget 2calls,3calls", "each at most once, got '2calls,3calls'"),
    # games
    ("check game.json", "game.json: there is no such file"),
    (
        "bench random",
        "and the strategy by the option for players: `bestresponse bench --model random`",
    ),
    ("verify chicken --text told", "write the text into a file, or give - and type it"),
    (
        "tournament matching-pennies --entries classic",
        "nobody takes part; name at least one entry; ",
    ),
    ("leaderboard nope", "there is no benchmark run to rank in nope; `bench` writes them"),
    (
        "bench --suite coopeval --num-games 3",
        "simulate has no option --num-games. How often a game is played is --repeats.",
    ),
    ("bench --model vllm/x", "vllm/x could not be reached"),
    ("bench --model http://127.0.0.1:9/v1", "(does it run, and is the address right?)"),
    ("solve stag hunt", "solve takes no further word, got 'hunt'; names have hyphens"),
    ("solve chicken --lambda 2", "is typed as --set lambda=VALUE"),
    ("solve chicken --concept QRE", "Did you mean quantal-response?"),
    ("solve chicken --concept ne", "Nash equilibria are found without a concept."),
    ("solve chicken --method lemke_howson", "Did you mean lemke-howson?"),
    ("solve chicken --objective wellfare", "Did you mean welfare?"),
    ("solve chicken --output nosuch/x.svg", "there is no folder nosuch; make it first"),
    ("solve kuhn-poker --iterations many", "expected a whole number from 1 to 100,000,000"),
    (
        "solve chicken --concept quantal-response --set lambda=abc",
        "--set lambda: expected a number, got 'abc'",
    ),
    ("solve", "solve: missing GAME. A name from `bestresponse games`,"),
    ("solve prisoner-dilemma", "Did you mean prisoners-dilemma?"),
    ("solve nosuch.nfg", "nosuch.nfg: there is no such file"),
    (
        "solve stag-hunt --concept nash",
        "--concept: there is no 'nash'; expected one of quantal-response,",
    ),
    (
        "solve stag-hunt --concept sequential",
        "sequential is for games played in turns; stag-hunt is a table",
    ),
    ("solve stag-hunt --dynamics replicater", "Did you mean replicator?"),
    (
        "solve stag-hunt -o picture.bmp",
        "expected a file ending in .svg, .pdf, .png, .html",
    ),
    ("solve stag-hunt --method simplex", "there is no method 'simplex'; expected one of auto,"),
    ("solve stag-hunt --set lambda=1", "--set is for --dynamics and --concept"),
    (
        "solve stag-hunt --concept quantal-response --set lamda=1",
        "it has precision=5.0 (or lambda). Did you mean lambda?",
    ),
    ("compare stag-hunt", "compare: missing SECOND."),
    (
        "compare stag-hunt nosuch",
        "there is no game or file named 'nosuch'. `bestresponse games` lists the names.",
    ),
    ("convert stag-hunt", "convert: missing OUT."),
    ("convert stag-hunt out.xyz", "out.xyz: expected a file ending in .nfg, .efg, .json, .pl"),
    ("convert nosuch out.nfg", "there is no game or file named 'nosuch'"),
    ("check", "check: missing PROGRAM."),
    ("export", "bestresponse export needs one of "),
    (
        "formalize",
        "name a text file with the story, for example story.txt; or --strategy FILE --game GAME",
    ),
    ("formalize nosuch.txt", "nosuch.txt: there is no such file; write the story into a text file"),
    ("games --nosuch", "games has no option --nosuch. `bestresponse games --help` lists"),
    # models and runs
    ("bench --model", "--model needs a value: --model MODEL"),
    ("bench --model localhost:8000", "Did you mean the server http://localhost:8000/v1#MODEL?"),
    ("bench --model 127.0.0.1:8000/v1", "the server http://127.0.0.1:8000/v1#MODEL?"),
    ("bench --model ollama", "ollama is a provider: add the name of a model, ollama/MODEL."),
    ("bench --games 5", "bench has no option --games. Did you mean --num-games?"),
    ("bench --config x.toml", "--config. A file with settings is given as --settings FILE."),
    ("bench --num-games abc", "--num-games: expected a whole number from 1 to 1,000,000, got abc"),
    ("bench --num-games 0", "--num-games: expected a whole number from 1 to 1,000,000, got 0"),
    (
        "bench --num-games 2 --model nosuch",
        "there is no model named 'nosuch'. `bestresponse models` lists",
    ),
    (
        "bench --num-games 2 --model openai",
        "openai is a provider: add the name of a model, openai/MODEL.",
    ),
    ("bench --num-games 2 --model gpt-4o", "Did you mean openai/gpt-4o?"),
    ("bench --num-games 2 --model opneai/gpt-4o", "Did you mean openai/gpt-4o?"),
    ("bench --num-games 2 --model openai/gpt-4o", "openai needs an API key: set OPENAI_API_KEY"),
    ("bench --suite invariant", "Did you mean invariance?"),
    ("bench --family zerosum", "Did you mean zero-sum?"),
    ("bench nosuch --model smollm2", "there is no game or file named 'nosuch'"),
    ("bench --modle smollm2", "bench has no option --modle. Did you mean --model?"),
    ("bench --workers -1", "--workers: expected a whole number from 1 to 1,024, got -1"),
    ("bench --settings nosuch.toml", "nosuch.toml: there is no such file"),
    (
        "bench --num-games 2 --model http://127.0.0.1:9/v1#x --output-dir FILE/x",
        "cannot create the folder",
    ),
    ("export sft", "missing --output FOLDER: Folder for the files."),
    ("models pull nosuch", "there are no weights named 'nosuch'; known: "),
    ("report nosuch", "there is no folder nosuch; a run is a folder with a manifest.json"),
    ("replay nosuch", "there is no folder nosuch"),
    ("merge nosuch -o out", "there is no folder nosuch"),
    ("reproduce nosuch --data .", "there is no paper named 'nosuch'. There are akata, alympics,"),
    ("reproduce lelma --data nosuch", "nosuch: there is no such folder"),
    ("reproduce lelma", "reproduce: missing --data FOLDER."),
    # agents
    ("simulate", "Usage: bestresponse simulate"),
    (
        "simulate stag-hunt --others nosuch",
        "there is no strategy named 'nosuch' for stag-hunt. There are always:MOVE,",
    ),
    ("simulate stag-hunt --seat row", "--seat: expected ROLE=PLAYER, such as row=random"),
    (
        "simulate stag-hunt --seat row=random --seat row=grim",
        "--seat: row is given twice, as random and as grim",
    ),
    (
        "simulate stag-hunt --others random --with repeated(noise=2)",
        "noise: expected a probability, got 2",
    ),
    (
        "simulate stag-hunt --seat rwo=random",
        "--seat: there is no seat 'rwo'; expected one of row, col",
    ),
    ("simulate nosuch --others random", "there is no game or file named 'nosuch'"),
    (
        "simulate stag-hunt --repeats 0 --others random",
        "--repeats: expected a whole number from 1 to",
    ),
    (
        "simulate water --abundance huge --model smollm2",
        "--abundance: there is no 'huge'; known: low, medium, high",
    ),
    ("tournament prisoners-dilemma --entries tit-for-tatt", "Did you mean tit-for-tat?"),
    ("tournament prisoners-dilemma --entries always-defect", "Did you mean defector?"),
    ("tournament nosuch", "there is no game or file named 'nosuch'"),
    (
        "tournament prisoners-dilemma --rounds 0",
        "--rounds: expected a whole number from 1 to 100,000, got 0",
    ),
    (
        "tournament prisoners-dilemma --noise 0.1",
        'tournament has no option --noise. Rounds are a mechanism: --with "repeated(noise=VALUE)".',
    ),
    (
        "tournament prisoners-dilemma --with reputation",
        "in a tournament everybody sees all moves; use repeated(...) instead",
    ),
    (
        "tournament prisoners-dilemma --rounds 3 --with repeated(noise=0.1)",
        "--rounds: repeated(...) says how many there are; leave it out",
    ),
    (
        "tournament prisoners-dilemma --with contract",
        "a tournament needs two players who choose at the same time",
    ),
    (
        "tournament prisoners-dilemma --entries grim --entries grim",
        "--entries: two entries are called",
    ),
    ("simulate chicken --noise 0.1", 'Rounds are a mechanism: --with "repeated(noise=VALUE)".'),
    ("verify chicken --noise 0.1", "verify has no option --noise. `bestresponse verify --help`"),
    ("tournament tit-for-tat", "tit-for-tat is a strategy, not a game; name the game first"),
    ("bench storys", "Did you mean `bestresponse bench stories`?"),
    ("solve m.jsn", "there is no file 'm.jsn'; files of games end in .nfg, .efg, .json or .pl"),
    ("solve stag-hunt --format json", "solve has no option --format. For JSON, type --json."),
    ("import", "name the file to import and a mapping of its columns, such as rounds.csv"),
    ("import d.csv", "d.csv: there is no such file"),
    ("import t.csv", "--mapping: this setting is missing; expected one of akata, dilemma, fair"),
    ("import t.csv --mapping akatta", "got 'akatta'. Did you mean akata?"),
    ("import d.xlsx --mapping akata", "d.xlsx: expected a .csv, .jsonl"),
    ("steer", "missing DOMAIN: bargaining, debate, email,"),
    ("steer nosuch --model simulated", "there is no domain named nosuch; expected bargaining,"),
    ("steer meeting --solver cfrr --model simulated", "Did you mean cfr?"),
    ("bench --settings executor=processes", "where these are counted: --processes 8"),
    ("bench --executor processes", "where these are counted: --processes 8"),
    # reasoning and people
    (
        "verify prisoners-dilemma",
        "give either --model (who reasons) or --text (a reasoning to check)",
    ),
    ("verify prisoners-dilemma --text nosuch.txt", "--text nosuch.txt: there is no such file"),
    ("play stag-hunt --with repeated(noise=2)", "noise: expected a probability, got 2"),
    ("play nosuch", "there is no game or file named 'nosuch'"),
    ("play stag-hunt --seat rwo=me", "--seat: there is no seat 'rwo'; expected one of row, col"),
    (
        "play stag-hunt --others nosuch",
        "there is no strategy named 'nosuch' for stag-hunt. There are always:MOVE,",
    ),
    (
        "play kuhn-poker --rounds 3",
        "kuhn-poker cannot be repeated, because not all choose once",
    ),
    ("serve --experiment nosuch.toml", "nosuch.toml"),
    (
        "mcp --port 99999999",
        "--port: expected a whole number from 1 to 65,535; `bestresponse mcp --help` lists",
    ),
    ("mcp --host 0.0.0.0", "--host 0.0.0.0: expected one of 127.0.0.1, localhost, ::1"),
    ("experiment chekc x.toml", "got 'chekc'. Did you mean check? (--help says what it may be)"),
    ("serve --port 99999999", "--port: expected a whole number from 0 to 65,535, got 99999999"),
]


@pytest.mark.parametrize(("typed", "sentence"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_typical_mistake_ends_in_a_sentence_that_says_what_to_type(
    bestresponse, typed, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "FILE").write_text("a file, no folder")
    (tmp_path / "t.csv").write_text("round,choice\n1,2\n")
    done = bestresponse(*typed.split())
    assert done.returncode in (1, 2)
    text = done.stdout + done.stderr
    assert sentence in text
    assert "Traceback" not in text


USAGE = [
    ("check nosuch.pl", "nosuch.pl: there is no such file"),
    ("check FOLDER", "FOLDER is a folder; expected logic programs, such as FOLDER/*.pl"),
    ("bench --model random --set rho=1", "It is a parameter of the family covariant."),
    ("bench --model nosuch.gguf", "there is no model file nosuch.gguf; `bestresponse models`"),
    ("bench --model openai/", "openai is a provider: add the name of a model, openai/MODEL."),
    ("bench --model http:/x:8000/v1#m", "Did you mean the server http://x:8000/v1#m?"),
    ("bench --model randm", "there is no model named 'randm'. Did you mean random?"),
    ("bench --model random --size 3", "Games of `bench` have --num-rows and --num-cols."),
    ("bench --model random --output-dir FILE", "FILE is a file; expected a folder for results"),
    ("bench --settings odd.toml", "bench has no setting 'nonsense'. --help lists all settings."),
    ("bench stories --suite x", "bench stories has no option --suite. `bestresponse bench stories"),
    ("simulate stag-hunt --seat random", "expected ROLE=PLAYER, such as row=random (--others"),
    ("simulate scores nosuch.csv", "nosuch.csv: there is no such file"),
    ("solve chicken --concept nash-equilibrium", "Nash equilibria are found without a concept."),
    ("tournament kuhn-poker", "as in prisoners-dilemma; `bestresponse games` lists the names"),
    ("tournament chicken --dynamics x", "tournament has no option --dynamics. `bestresponse tou"),
    ("play prisoners-dilemma --others tit-for-tut", "Did you mean tit-for-tat? It needs 2 or"),
    ("verify chicken --text BINARY", "--text BINARY: expected text in UTF-8, got a binary file"),
    ("report FILE", "FILE is a file; a run is a folder with a manifest.json, as `bench` writes it"),
    ("report FOLDER", "FOLDER contains no run; a run is a folder with a manifest.json"),
    ("behave --fit qrre FOLDER", "got 'qrre'. Did you mean qre?"),
    ("train smollm2 --data nosuch", "`bestresponse export sft -o nosuch` writes examples"),
    ("experiment check nosuch.toml", "nosuch.toml: there is no such file"),
    ("experiment preview FOLDER", "FOLDER is a folder; expected a file"),
]
CONTENT = [
    ("solve empty.json", "empty.json is empty; expected a game, such as {"),
    ("solve broken.json", "broken.json, line 1, column 13: this is not JSON: expecting value"),
    ("experiment check odd.toml", "odd.toml, line 1: title is missing"),
    ("check FILE", "FILE: no game"),
]
ENDED = [(*mistake, 2) for mistake in USAGE] + [(*mistake, 1) for mistake in CONTENT]


@pytest.mark.parametrize(("typed", "sentence", "code"), ENDED, ids=[each[0] for each in ENDED])
def test_what_was_typed_wrongly_ends_with_2_and_what_is_wrong_in_a_file_with_1(
    bestresponse, typed, sentence, code, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "FILE").write_text("a file, no folder")
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "BINARY").write_bytes(b"\x00\x01\xff")
    (tmp_path / "odd.toml").write_text("nonsense = 3\n")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "broken.json").write_text('{"payoffs": ')
    done = bestresponse(*typed.split())
    text = done.stdout + done.stderr
    assert (done.returncode, "Traceback" in text) == (code, False), text
    assert sentence in text
