"""Every promise of "Steering Language Models with Game-Theoretic Solvers", each with a call and a
check of its result.

The ids are the promises with the section of the paper they stand in. docs/papers/steering.md tells
the same in words.
"""

import inspect
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog
from steer_command import steer as type_command
from steering import dialogue, recorded

import bestresponse as br
from bestresponse.core.errors import InvalidMove
from bestresponse.core.json import canonical
from bestresponse.games.dialogue.domain import (
    load_domain,
    parse_domain,
    read_domain_text,
    read_scenario,
    scenarios,
)
from bestresponse.games.dialogue.game import prompt_key
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.dialogue.speaker import ScoreReferee
from bestresponse.studies.steer import session
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.dialogue_frames import _compare_referees
from bestresponse.studies.steer.embedding import HashedWords
from bestresponse.studies.steer.following import Opinions, follow_rate
from bestresponse.studies.steer.fresh import FreshPlays, Nearest
from bestresponse.studies.steer.imitation import Training
from bestresponse.studies.steer.meta_game import MetaGame, MetaSolution, solve_meta
from bestresponse.studies.steer.oracles import Oracle, find_response
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.tree import Policy

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "steering.md"
PROMISES = []
MANNERS = ["calm", "assertive", "submissive", "any"]


def promise(sentence):
    """Put a check under the sentence that it holds the program to."""

    def add(check):
        PROMISES.append(pytest.param(check, id=sentence))
        return check

    return add


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("steering")


@pytest.fixture(scope="module")
def debates(folder):
    return br.steer(
        "debate",
        games=3,
        wordings=2,
        fresh=1,
        follow=True,
        second="score",
        policy="cfr",
        iterations=10,
        output_dir=folder,
    )


@pytest.fixture(scope="module")
def trades(folder):
    return br.steer(
        "fruit",
        solver="psro",
        meta="replicator",
        swap_seats=True,
        seed=3,
        iterations=1,
        held_out=0,
        output_dir=folder,
    )


@pytest.fixture(scope="module")
def learnt(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "Training", lambda seed: Training(steps=100, hidden=16, seed=seed))
        return br.steer("meeting", solver="imitation", games=3, held_out=2, output_dir=folder)


@pytest.fixture(scope="module")
def tree():
    return compile_game(recorded(dialogue("meeting", types=2))[0])


@pytest.mark.parametrize("check", PROMISES)
def test_the_promise_is_kept(check, request):
    wanted = inspect.signature(check).parameters
    check(**{name: request.getfixturevalue(name) for name in wanted})


def find_best_welfare(means):
    """Find the welfare of the best coarse correlated equilibrium of two, by scipy's program."""
    limits = []
    for seat, payoffs in enumerate(means):
        for move in range(payoffs.shape[seat]):
            alone = np.expand_dims(payoffs.take(move, axis=seat), seat)
            limits.append((alone - payoffs).ravel())
    size = means[0].size
    found = linprog(
        -means.sum(axis=0).ravel(),
        A_ub=np.array(limits),
        b_ub=np.zeros(len(limits)),
        A_eq=np.ones((1, size)),
        b_eq=[1.0],
    )
    return -found.fun


class EarnsByManner:
    """An arena in which a talk pays the first seat what its manner earns, whatever is drawn."""

    manners = SimpleNamespace(name="tone")

    def __init__(self, earned):
        self.earned = earned

    def learn(self, manner):
        assert manner in self.earned

    def sample_many(self, wanted):
        return np.array([[self.earned[manner], 0.0] for (manner, _), number in wanted])


def find_told(request, right):
    """Name the manner of the labelled message that a request is about."""
    return next(manner for text, manner in right.items() if text in request.messages[-1].content)


def value_paths(tree, policies, payoffs=None):
    """What both earn where each follows a policy of its own, summed over all paths."""
    payoffs = tree.payoffs if payoffs is None else payoffs
    reach = np.ones(tree.num_nodes)
    for nodes in tree.levels[1:]:
        for node in nodes:
            parent = tree.parent[node]
            infoset = tree.infoset[parent]
            if infoset < 0:
                chance = tree.probability[node]
            else:
                place = tree.first_move[infoset] + tree.move[node]
                chance = policies[tree.owner[parent]].probabilities[place]
            reach[node] = reach[parent] * chance
    return [sum(reach[leaf] * payoffs[leaf, seat] for leaf in tree.leaves) for seat in (0, 1)]


def mark(infoset, chosen):
    """Put all weight on the first move of the chosen information set, on the last of all others."""
    weights = np.zeros(len(infoset.moves))
    weights[0 if chosen else -1] = 1.0
    return weights


def read_prompts(name, number, **more):
    """What the speaker of message `number` is told in the first game, in the manner `calm`."""
    game = dialogue(name, **more)
    state = game.start()
    for _ in range(number):
        role = game.roles[game.turn(state)]
        state = game.apply(game.apply(state, {role: game.options(0)[0]}), {role: "Some words."})
    role = game.roles[game.turn(state)]
    view = game.view(game.apply(state, {role: game.options(0)[0]}), role)
    return game, f"{write_rules(view)}\n{write_history(view)}"


@promise(
    "A dialogue is a game in extensive form with players, chance, infostates and perfect recall (2)"
)
def _(tree, debates):
    assert tree.players == ("player 1", "player 2")
    assert tree.num_players == 2
    assert len(tree.infosets) > 4
    game = br.find_game(
        str(debates.path / "tree-0.efg")
    ).solvable()  # refused where recall is not perfect
    assert game.num_nodes == debates.frames["games"][0]["nodes"]


@promise("Actions are tones or strategies in which an LLM writes (2)")
def _():
    assert list(load_domain("fruit").manners().options) == MANNERS


@promise("An action may be the choice of which LLM to call (2)")
def _(tmp_path):
    text = read_domain_text("debate").replace('name = "debate"', 'name = "voices"')
    mine = tmp_path / "voices.toml"
    mine.write_text(
        text.replace(
            "[actions.style.texts]",
            '[actions.style.models]\nlogos = "simulated"\n[actions.style.texts]',
        )
    )
    other = br.models.from_function("other", lambda prompt: "I disagree.")
    config = SteerConfig(str(mine), model=other, judge="simulated", fresh=0)
    assert list(config.models) == ["other", "simulated"]
    answers = AnswerStore()
    found = session.run(config, {"other": other, "simulated": SimulatedSpeaker(0)}, answers)[0]
    assert found.games[0].game.manners.models == {"logos": "simulated"}
    spoken = {
        who: [one.text for one in answers.book.entries if one.by == who] for who in config.models
    }
    # Four openings, three of them in the same words, so two situations with four replies each.
    assert len(spoken["simulated"]) == 1 + 2
    assert set(spoken["other"]) == {"I disagree."}
    assert "I disagree." not in spoken["simulated"]


@promise("A dialogue ends after a limited number of messages (2)")
def _():
    assert [dialogue("meeting", replies=number).messages for number in (1, 2, 5)] == [2, 4, 10]


@promise("Or it ends when an LLM says that it is over (2, G)")
def _():
    game = dialogue("meeting", replies=3, early_end=True)
    assert [game.rules_after(number) for number in (1, 2, 3, 6)] == [False, True, True, True]


@promise("An LLM quantifies the reward of each player (2, D)")
def _(debates):
    (agreement,) = debates.frames["agreement"]
    assert agreement["payoffs"] > 0
    assert agreement["same"] == 1.0
    game = dialogue("fruit")
    model = ScriptedModel(["They trade.", "She gains 4.\nValue: 4", "He loses 1.\nValue: -1"])
    referee = ScoreReferee(model, load_domain("fruit"))
    decision = referee.decide(game.view(game.start(), "referee"), None)
    assert json.loads(decision.action) == {"payoffs": [4, -1]}
    for name, call in zip(game.names, decision.calls[1:], strict=True):
        assert name in call.request["messages"][-1][1]


@promise(
    "The reward model is prompted with worked examples of its own domain, step by step (3.1, D)"
)
def _():
    domain = load_domain("fruit")
    model = ScriptedModel(["They did not agree.", "No trade.\nValue: 0", "No trade.\nValue: 0"])
    game = dialogue("fruit")
    decision = ScoreReferee(model, domain).decide(game.view(game.start(), "referee"), None)
    asked = decision.calls[1].request["messages"][-1][1]
    assert "receives a value of 5 and gives away a value of 2, and 5 - 2 = 3.\nValue: 3" in asked
    assert "Sunday" not in asked
    shown = {
        name: load_domain(name).texts["examples"]
        for name in ("meeting", "debate", "bargaining", "job-offer", "rps-talk")
    }
    for own, part in (
        ("meeting", "Sunday is worth 7 to Ravi."),
        ("debate", "The arguments of Ravi were better.\nValue: 1"),
        ("bargaining", "It is worth 8 to Ravi, and 12 - 8 = 4.\nValue: 4"),
        ("job-offer", "4 + 9 = 13.\nValue: 13"),
        ("rps-talk", "By the list, north against south earns 6.\nValue: 6"),
    ):
        assert [name for name, text in shown.items() if part in text] == [own]


@promise("Messages are public; actions, endowments and values are private (2)")
def _():
    game, told = read_prompts("fruit", 1)
    own, other = (json.dumps(game.cases[0].private[seat]["values"]) for seat in (1, 0))
    assert own != other
    assert "Some words." in told
    assert "Write in a calm tone." in told
    state = game.apply(game.start(), {"player 1": "submissive"})
    heard = game.view(game.apply(state, {"player 1": "Hi."}), "player 2")
    assert "submissive" not in write_rules(heard) + write_history(heard)
    assert heard.facts["private"] == game.cases[0].private[1]


@promise("Scheduling meetings: private days and values, nothing without an agreement (3.2)")
def _():
    domain = load_domain("meeting")
    scenario = scenarios(domain, 0, 1)[0]
    utilities = domain.deal.utilities
    day, value = next(iter(scenario.private[0]["values"].items()))
    assert utilities({"agreed": True, "choice": day}, scenario.private)[0] == value
    assert utilities({"agreed": False, "choice": None}, scenario.private) == (0, 0)


@promise("Scheduling meetings: an action is a set of days to propose (3.2)")
def _():
    _, told = read_prompts("meeting", 0)
    days = load_domain("meeting").manners("days")
    assert "Monday or Tuesday" in days.options
    assert "calm tone" in told
    run = SteerConfig("meeting", actions="days").read_domain().manners("days")
    assert run.texts["Monday or Tuesday"] == "Propose to meet on Monday or Tuesday."


@promise("Trading fruit: endowments, valuations, what a trade gains, four tones (3.2)")
def _():
    domain = load_domain("fruit")
    private = tuple(
        {"endowment": basket, "values": {"apple": 2, "banana": 5, "blueberry": 1, "kiwi": 1}}
        for basket in ({"apple": 3}, {"banana": 1})
    )
    deal = {"agreed": True, "gives": [{"apple": 2}, {"banana": 1}]}
    # Two apples at 2 go for a banana at 5, and the other way round.
    assert domain.deal.utilities(deal, private) == (1, -1)


@promise("Debate: topics, for or against, logos, ethos and pathos, a winner and a loser (3.2, C)")
def _(debates):
    domain = load_domain("debate")
    assert domain.manners().options == ("logos", "ethos", "pathos", "any")
    assert len(domain.generate["topics"]) >= 10
    assert domain.deal.utilities({"winner": 0}, ({}, {})) == (1, 0)
    sides = {known["side"] for known in debates.frames["games"][0]["scenario"][0]["private"]}
    assert sides == {"for", "against"}


@promise("1000 games of each domain are drawn by procedure (3.2)")
def _():
    for name in ("meeting", "fruit", "debate"):
        assert len({scenario.id for scenario in scenarios(load_domain(name), 0, 1000)}) == 1000


@promise("The equilibrium action is told to the model in its prompt (3.1)")
def _():
    assert "How to write: Write in a calm tone." in read_prompts("meeting", 0)[1]


@promise('The control is an LLM without guidance: the action "any" (4)')
def _(debates, trades, learnt):
    assert all(
        load_domain(name).manners().neutral == "any" for name in ("meeting", "fruit", "debate")
    )
    assert debates.frames["policies"][-1]["policy"] == "unguided"
    assert {row["manner"] for row in trades.frames["manners"]} >= {"any"}
    assert ("unguided",) in dict(learnt.results.groups)
    solved = debates.results.results.solved[0]
    for infoset in solved.tree.infosets:
        player = solved.tree.players[infoset.player]
        mix = solved.unguided.at(player, infoset.key)
        assert {move for move, chance in mix.items() if chance} == {"any"}


@promise(
    "Do LLMs follow the solver? A held-out classifier with definitions, tested on labelled"
    " messages (4)"
)
def _(debates, folder):
    (row,) = debates.frames["following"]
    assert 0.6 < row["rate"].estimate <= 1
    assert (row["labelled"], row["labelled_right"]) == (8, 1.0)
    named = debates.frames["named"].select(labelled=False)
    # Who was told nothing cannot follow; of the others those count that are named as told.
    assert {pair["told"] for pair in named} == {"logos", "ethos", "pathos"}
    total = sum(pair["messages"] for pair in named)
    right = sum(pair["messages"] for pair in named if pair["told"] == pair["named"])
    assert row["rate"].estimate == pytest.approx(right / total)
    assert row["judged"] == total
    # Of two classifiers the one counts that names more of the labelled messages right.
    manners = load_domain("debate").manners()
    right = dict(manners.labelled)
    good = ScriptedModel(lambda request: find_told(request, right), name="good")
    models = {"bad": ScriptedModel(lambda request: "logos", name="bad"), "good": good}
    messages = {("ethos", next(iter(right))): 2}
    assert follow_rate(messages, manners, models, AnswerStore()).by == "good"
    shown = type_command(folder, "debate", "--follow", "--fresh", "0")
    assert "messages written in the instructed manner" in shown.stdout
    calls = next(folder.glob("dialogues-debate-*")) / "calls.jsonl"
    assert "Gives reasons, facts, numbers or inferences." in calls.read_text()


@promise("Are guided LLMs more strategic? Payoffs and dialogues won, in per cent (4)")
def _(debates):
    groups = {heads[0]: figures for heads, figures in debates.results.groups.items()}
    for texts in ("recorded texts", "fresh texts"):
        assert 0 <= groups[texts]["won"].estimate <= 1
    recorded_texts = groups["recorded texts"]
    # Of three dialogues the guided wins one, draws one and loses one; ties count for half.
    unguided = np.zeros((3, 2))
    guided = np.array([[[2.0, 1.0], [3.0, 3.0], [0.0, 4.0]], [[1.0, 5.0], [2.0, 2.0], [6.0, 1.0]]])
    assert FreshPlays(unguided, guided).wins.tolist() == [1.0, 0.5, 0.0]
    # In a debate speakers share 1, so the unguided earn 1/2 and a gain of g is 2 g of that.
    assert recorded_texts["relative_gain"] == pytest.approx(2 * recorded_texts["gain"].estimate)


@promise("How good is the LLM as a reward model? Two rulings on the same dialogues (4, D)")
def _(debates):
    (row,) = debates.frames["agreement"]
    assert (row["same"], row["distance"], row["void"]) == (1.0, 0.0, 0)
    # Of four payoffs three are the same, and one is half a point apart; one dialogue is left void.
    opinions = Opinions(((1, 1), (0, 0), (1, 0.5), (0, 0)), void=1)
    (row,) = _compare_referees([SimpleNamespace(opinions=opinions)])
    assert (row["payoffs"], row["same"], row["distance"], row["void"]) == (4, 0.75, 0.125, 1)


@promise("Hallucinated trades, and trades of what nobody owns, are found (D.3)")
def _():
    domain = load_domain("fruit")
    private = tuple({"endowment": {"apple": 3}, "values": {"apple": 1}} for _ in range(2))
    ruling = {"agreed": True, "gives": {"Ines": {"apple": 50}, "Bo": {"apple": 1}}}
    with pytest.raises(InvalidMove, match="Ines gives 50 x apple but owns 3"):
        domain.deal.read(ruling, ("Ines", "Bo"), private)


@promise("CFR solves the games: its policy at N iterations, its NashConv and the CFR gain (4, J)")
def _(debates):
    solved = debates.results.results.solved
    learnt = debates.frames["policies"][0]
    assert (learnt["policy"], learnt["followed"]) == ("cfr+ at 10 iterations", "yes")
    assert learnt["nash_conv"].estimate == pytest.approx(
        np.mean([one.policies["cfr"].nash_conv for one in solved])
    )
    assert 0 < learnt["nash_conv"].estimate < 0.1
    assert learnt["gain"].estimate == pytest.approx(
        np.mean([one.policies["cfr"].earned.gain for one in solved])
    )
    # One speaker switches to the policy while the other stays unguided, along every path.
    for one in solved:
        before = value_paths(one.tree, [one.unguided] * 2)
        for found in one.policies.values():
            first = value_paths(one.tree, [found.policy, one.unguided])[0] - before[0]
            second = value_paths(one.tree, [one.unguided, found.policy])[1] - before[1]
            assert found.earned.gain == pytest.approx((first + second) / 2)
            # Who earns most wins a dialogue, and both win half of it where they earn the same.
            won = (np.sign(one.tree.payoffs - one.tree.payoffs[:, ::-1]) + 1) / 2
            first = value_paths(one.tree, [found.policy, one.unguided], won)[0]
            second = value_paths(one.tree, [one.unguided, found.policy], won)[1]
            assert found.earned.won == pytest.approx((first + second) / 2)


@promise("Table 1: average NashConv and CFR gain beside the published ones (J)")
def _(debates):
    learnt, *others = debates.frames["policies"]
    assert (learnt["published_nash_conv"], learnt["published_gain"]) == (0.024, 0.106)
    assert all(row["published_gain"] is None for row in others)


@promise(
    "PSRO: a table over prompts, its equilibrium, an approximate best response (3.3, algorithm 5)"
)
def _(trades):
    assert len(trades.results.results.psro.history) == 2
    assert any(row["outcome"] == "added" for row in trades.frames["candidates"])


@promise("The equilibrium over prompts is found by replicator dynamics (4)")
def _(trades):
    assert trades.config.meta == "replicator"
    psro = trades.results.results.psro
    first = psro.history[0].solution
    # Whoever is used earns as much against the others as anything else does, or nearly.
    size = len(psro.history[0].prompts[0])
    table = psro.game.means[0][:size, :size]
    own, other = first.marginals
    against = table @ other
    assert own.sum() == pytest.approx(1)
    assert against.max() - own @ against <= 0.05 * np.ptp(table)
    assert np.ptp(against) > 0.05 * np.ptp(table)


@promise(
    "Across algorithms: the Nash bargaining solution and the coarse correlated equilibrium (4)"
)
def _(trades):
    game = trades.results.results.psro.game
    bargained, correlated = (solve_meta(game, how) for how in ("bargaining", "welfare"))
    assert bargained.joint.sum() == pytest.approx(1)
    # Nobody gains by leaving the coarse correlated equilibrium for one manner, whatever was drawn.
    for seat, payoffs in enumerate(game.means):
        others = correlated.joint.sum(axis=seat)
        alone = np.tensordot(np.moveaxis(payoffs, seat, 0), others, axes=others.ndim)
        assert alone.max() <= correlated.payoffs[seat] + 1e-6
    # What is bargained for gives both at least what each can secure alone.
    for seat, payoffs in enumerate(game.means):
        secured = np.moveaxis(payoffs, seat, 0).reshape(payoffs.shape[seat], -1).min(axis=1).max()
        assert bargained.payoffs[seat] >= secured - 1e-6
    # Both like another profile better: alone they secure 4/5 and 3/4. With p of the first profile
    # the product (1 + 3 p - 4/5) (3 - 2 p - 3/4) is largest where 6.35 = 12 p.
    samples = np.zeros((2, 2, 1, 2))
    samples[0, 0, 0] = (4, 1)
    samples[1, 1, 0] = (1, 3)
    liked = MetaGame((("calm", "firm"),) * 2, samples, "calm")
    share = 6.35 / 12
    agreed = solve_meta(liked, "bargaining").payoffs
    assert agreed == pytest.approx([1 + 3 * share, 3 - 2 * share], abs=1e-4)
    assert solve_meta(liked, "welfare").payoffs == pytest.approx([4, 1])


@promise(
    "Best responses by shotgun, better response, trajectory and categories (H, algorithms 1 to 4)"
)
def _(folder):
    for oracle in ("shotgun", "better", "trajectory", "categorical"):
        run = br.steer(
            "fruit",
            solver="psro",
            oracle=oracle,
            iterations=1,
            plays=2,
            candidates=2,
            held_out=0,
            output_dir=folder,
        )
        assert run.frames["candidates"].rows, oracle
    # Algorithm 3 shows the manners in rising order of what they earn, the best one last.
    shown = []

    def propose(count, known, **how):
        shown.append((list(known), how["ranked"]))
        return []

    earned = {"calm": 3.0, "angry": -1.0, "sad": 2.0}
    solution = MetaSolution(np.ones((3, 1)) / 3, (np.ones(3) / 3, np.ones(1)), np.zeros(2))
    inventor = SimpleNamespace(propose=propose)
    prompts = (tuple(earned), ("any",))
    oracle = Oracle(EarnsByManner(earned), inventor, 0, prompts, solution, 5, 2, 0, 0)
    find_response(oracle, "trajectory")
    assert shown == [(["angry", "sad", "calm"], True)]

    def respond(kind, *offers):
        """Let an oracle that knows one manner, which earns 3, be offered these one by one."""
        offers = list(offers)
        asked = SimpleNamespace(propose=lambda *more, **how: offers.pop(0))
        worth = {"calm": 3.0, "angry": -1.0, "glad": 5.0, "odd": 9.0, "sad": 0.0}
        alone = MetaSolution(np.ones((1, 1)), (np.ones(1), np.ones(1)), np.zeros(2))
        known = (("calm",), ("any",))
        seat = Oracle(EarnsByManner(worth), asked, 0, known, alone, 5, 3, 0, 0)
        found = find_response(seat, kind)
        return found.best and found.best.manner, [one.manner for one in found.tried], len(offers)

    # Algorithm 1 takes the best of all; 2 goes on until one is better, and no further.
    assert respond("shotgun", ["angry", "odd", "glad"]) == ("odd", ["angry", "odd", "glad"], 0)
    assert respond("better", ["angry"], ["glad"], ["odd"]) == ("glad", ["angry", "glad"], 1)
    # Algorithm 4: odd and angry are worth 4 on average, glad is worth 5.
    offers = (["moods", "airs"], ["odd", "angry"], ["glad"])
    assert respond("categorical", *offers) == ("glad", ["odd", "angry", "glad"], 0)


@promise("Figure 3: the equilibrium over all prompts at every iteration (4)")
def _(trades):
    rows = [row for row in trades.frames["manners"] if row["player"] == "player 1"]
    for number in (0, 1):
        step = [row for row in rows if row["iteration"] == number]
        assert [row["manner"] for row in step][:4] == MANNERS
        mix = trades.results.results.psro.history[number].solution.marginals[0]
        assert [row["probability"] for row in step] == pytest.approx(mix.tolist())
    titles = [section.title for section in trades.report().sections]
    assert "Manners over iterations" in titles


@promise("New prompts enter the set and get probability (4)")
def _(trades):
    new = [row for row in trades.frames["manners"] if row["entered"] == 1]
    assert new
    assert max(row["probability"] for row in new) > 0.1
    for step in trades.frames["iterations"]:
        here = trades.frames["manners"].select(iteration=step["iteration"], player=step["player"])
        mass = sum(row["probability"] for row in here if row["entered"])
        assert step["new_prompt_mass"] == pytest.approx(mass)


@promise("The expected payoff tensor P over joint actions (algorithm 5)")
def _(trades):
    size = len(trades.results.results.psro.prompts[0])
    assert len(trades.frames["profiles"]) == 2 * size**2
    psro = trades.results.results.psro
    for row in trades.frames["profiles"]:
        first, second = psro.prompts[0].index(row["first"]), psro.prompts[1].index(row["others"])
        earned = psro.game.samples[first, second, :, int(row["player"][-1]) - 1]
        assert row["payoff"] == pytest.approx(np.nanmean(earned))


@promise(
    "Imitation: 200 games, 10 iterations of CFR, 768 numbers, two layers of 256, 10^4 steps of Adam"
    " (4, E)"
)
def _(learnt):
    config, how = SteerConfig("meeting", solver="imitation"), Training()
    assert (config.games, config.iterations) == (200, 10)
    assert (how.steps, how.batch, how.rate, how.hidden) == (10_000, 128, 0.001, 256)
    (row,) = learnt.frames["learning"]
    assert (row["games"], row["numbers"], row["held_out"]) == (3, 768, 2)
    # Two layers of rectified sums, then shares of exponentials.
    network = learnt.results.results.imitation.network
    rows = values = np.random.default_rng(0).normal(size=(4, 768)).astype(np.float32)
    for weights, bias in network.layers:
        sums = np.einsum("ij,jk->ik", values, weights) + bias
        values = np.where(sums > 0, sums, 0)
    weighed = np.exp(sums)
    shares = weighed / weighed.sum(axis=1, keepdims=True)
    assert network(rows) == pytest.approx(shares, abs=1e-4)
    assert len(network.layers) == 3
    guides = [heads[0] for heads in learnt.results.groups]
    assert guides == ["CFR", "imitation", "mean policy", "nearest situation", "unguided"]


@promise("Figure 4: the equilibrium of the game between imitation, the solver and the baseline (F)")
def _(learnt):
    rows = learnt.frames["guidance"]
    assert {row["first"] for row in rows} == {"unguided", "imitation", "CFR"}
    assert len(rows) == 9
    assert sum(row["probability"] for row in rows) == pytest.approx(1)
    chances = np.array([row["probability"] for row in rows]).reshape(3, 3)
    both = np.array([list(map(float, row["payoffs"].split(", "))) for row in rows])
    for seat, payoffs in enumerate(both.T.reshape(2, 3, 3)):
        earned = float((chances * payoffs).sum())
        mix = chances.sum(axis=seat)
        others = payoffs @ mix if seat == 0 else payoffs.T @ mix
        # Nobody gains by another choice against the mix of the other; payoffs have three digits.
        assert others.max() == pytest.approx(earned, abs=0.002)


@promise("Header, names, private information and scenarios are one configuration (G)")
def _(tmp_path):
    mine = tmp_path / "mine.toml"
    text = read_domain_text("debate").replace('name = "debate"', 'name = "mine"')
    text = text.replace("[generate]", '[generate]\nnames = ["Xena", "Yuri"]')
    text = text.replace("debate in public the motion", "argue on the radio about the motion")
    text = text.replace("You are $me. You argue $side", "Your name is $me, and you speak $side")
    mine.write_text(text)
    run = br.steer(str(mine), fresh=0, output_dir=tmp_path)
    assert run.frames["overview"][0]["domain"] == "mine"
    game = run.results.results.games[0].game
    assert sorted(game.names) == ["Xena", "Yuri"]
    told = write_rules(game.view(game.start(), game.roles[0]))
    assert "argue on the radio about the motion" in told
    assert f"Your name is {game.names[0]}, and you speak " in told


@promise("An LLM generates names, endowments and valuations from examples (G)")
def _(folder):
    run = br.steer("fruit", scenarios_by="simulated", fresh=0, output_dir=folder)
    drawn = scenarios(load_domain("fruit"), 0, 1)[0].to_json()
    assert run.frames["games"][0]["scenario"][0] != drawn
    domain = load_domain("fruit")
    wanted = scenarios(domain, 77, 1)[0].to_json()
    model = ScriptedModel([json.dumps({"scenarios": [wanted]})])
    written = session.Author(model, domain, AnswerStore(), seed=5).write(1)
    assert [scenario.to_json() for scenario in written.scenarios] == [wanted]
    # The examples are three drawn games, told as they have to be written.
    asked = model.asked[0].messages[-1].content
    examples = [line for line in asked.splitlines() if line.startswith("{")]
    read = [read_scenario(domain, json.loads(line)).to_json() for line in examples[:3]]
    assert read == [json.loads(line) for line in examples[:3]]
    assert len({json.dumps(example) for example in read}) == 3


@promise("`payoffs` is a list of payoff objects with an aggregation function (G)")
def _():
    parts = """
[payoffs]
aggregate = "mean"
[[payoffs.parts]]
question = "Were the reasons of $me better?"
low = 0
high = 1
[[payoffs.parts]]
question = "Was $me kinder?"
low = 0
high = 1
"""
    domain = parse_domain(read_domain_text("debate") + parts)
    replies = ["Ada argued better.", "Value: 1", "Value: 0.5", "Value: 0", "Value: 0"]
    game = dialogue("debate")
    referee = ScoreReferee(ScriptedModel(replies), domain)
    decision = referee.decide(game.view(game.start(), "referee"), None)
    # (1 + 0.5) / 2 and 0
    assert json.loads(decision.action) == {"payoffs": [0.75, 0]}
    asked = [call.request["messages"][-1][1] for call in decision.calls]
    assert f"Was {game.names[0]} kinder?" in asked[2]


@promise("Observations are summaries of the dialogue by an LLM, with a prefix and a postfix (G)")
def _(folder):
    run = br.steer("meeting", observe="summary", wordings=2, fresh=0, output_dir=folder)
    whole = br.steer("meeting", wordings=2, fresh=0, output_dir=folder)
    # An opening insists or yields; the summary tells that, not the tone in which it does.
    assert run.frames["games"][0]["situations"] == 1 + 2
    assert whole.frames["games"][0]["situations"] > 1 + 2
    first = next(row for row in run.frames["policy"] if row["last_heard"] != "nothing yet")
    assert first["last_heard"].startswith("summary: ")
    assert "proposed" in first["last_heard"]
    texts = load_domain("meeting").texts
    assert texts["summary_prefix"] == "Read the conversation between $names."
    assert texts["summary_postfix"].startswith("Sum up in two sentences")


@promise("`num_llm_seeds`: several texts for each choice, drawn by chance (G)")
def _():
    game = recorded(dialogue("meeting"), wordings=24)[0]
    chosen = game.apply(game.start(), {"player 1": "calm"})
    ((_, lottery),) = game.asks(chosen).items()
    drawn = game.book.wordings(prompt_key(game.view(chosen, "player 1")), 24)
    shares = [share for _, share in lottery.chances]
    assert shares == pytest.approx([times / 24 for times in drawn.values()])
    assert len(set(drawn.values())) > 1


@promise("The action space is recipient x tone (G)")
def _():
    game = dialogue("email")
    assert len(game.options(0)) == len(game.manners.options) * 2
    assert game.options(0)[0].endswith(f", to {game.names[1]}")


@promise("Policies generalise to dialogues that the solver has not seen (4)")
def _(debates):
    (row,) = debates.frames["overview"]
    # Two guided seats in one draw of three games, one choice each.
    assert row["known"] + row["nearest"] + row["no_advice"] == 6
    # In other words the situation is taken whose messages are nearest by the cosine.
    tree = debates.results.results.solved[0].tree
    embed = HashedWords()
    heard = [one for one in tree.infosets if json.loads(one.key)[3]["said"]]
    for number, infoset in enumerate(heard):
        role, told, third, facts, *rest = json.loads(infoset.key)
        seat, manner, text = facts["said"][-1]
        changed = {**facts, "said": [*facts["said"][:-1], [seat, manner, f"{text} Indeed."]]}
        certain = Policy(tree, np.concatenate([mark(one, one is infoset) for one in tree.infosets]))
        nearest = Nearest(certain, embed, 2.0)
        key = canonical([role, told, third, changed, *rest])
        assert nearest.at(tree.players[infoset.player], key)[infoset.moves[0]] == 1.0, number
        assert 0 < nearest.distances[0] < 0.5
    # Whoever is guided meets its own first situation on record and then others' words: beside the
    # policy's own gain on recorded texts stands that on fresh ones, which differs.
    groups = {heads[0]: figures for heads, figures in debates.results.groups.items()}
    fresh = [game.fresh for game in debates.results.results.games]
    by_hand = [
        np.mean([table[0, seat] - one.unguided[0, seat] for seat, table in enumerate(one.guided)])
        for one in fresh
    ]
    assert groups["fresh texts"]["gain"].estimate == pytest.approx(np.mean(by_hand))
    assert any((one.guided != one.unguided[None]).any() for one in fresh)
    # Advice in a conversation earns what the tree says.
    solved = debates.results.results.solved[0]
    scenario = debates.frames["games"][0]["scenario"][0]
    advice = br.advise("debate", [], scenario["private"][0], public=scenario["public"], run=debates)
    assert advice.source == "solved tree"
    assert advice.earns == pytest.approx(solved.guided_payoffs[0], abs=1e-4)


@promise("Strategies become part of the training of an LLM (discussion)")
def _(debates, tmp_path):
    file = tmp_path / "guided.jsonl"
    written = br.dialogue.export(debates, file)
    examples = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(examples) == written > 0
    for example in examples:
        assert [message["role"] for message in example["messages"]] == [
            "system",
            "user",
            "assistant",
        ]
        assert "Argue in any style you like." in example["messages"][1]["content"]
        assert example["task"]["probability"] >= 0.05
    openings = [
        one for one in examples if "Nobody has written yet." in one["messages"][1]["content"]
    ]
    solved = debates.results.results.solved[0]
    mix = solved.policy.at("player 1", solved.tree.infosets[0].key)
    first = {one["task"]["manner"] for one in openings if one["task"]["game"] == 0}
    assert first == {manner for manner, chance in mix.items() if chance >= 0.05}


@promise("Equilibria of the largest welfare (ethics)")
def _(trades):
    from bestresponse.studies.steer.meta_game import solve_meta

    game = trades.results.results.psro.game
    best = solve_meta(game, "welfare").payoffs.sum()
    assert best == pytest.approx(find_best_welfare(game.means), abs=1e-6)
    assert best >= trades.results.results.psro.solution.payoffs.sum() - 1e-9


@promise("Sampled counterfactual regret minimisation for large trees (limitations)")
def _(folder):
    run = br.steer(
        "debate",
        policy="cfr",
        variant="external-sampling",
        iterations=2000,
        fresh=0,
        output_dir=folder,
    )
    sampled = run.frames["policies"][0]
    assert sampled["policy"] == "external-sampling at 2,000 iterations"
    assert sampled["nash_conv"].estimate < 0.1


def test_there_are_forty_promises_and_each_is_told_once():
    names = [case.id for case in PROMISES]
    assert len(names) == len(set(names)) == 40


def test_every_command_of_the_page_is_taken(tmp_path):
    lines = [line.partition("#")[0].strip() for line in PAGE.read_text("utf-8").splitlines()]
    commands = [line.split()[2:] for line in lines if line.startswith("bestresponse steer ")]
    assert len(commands) >= 10
    for words in commands:
        done = type_command(tmp_path, *words, "--dry-run")
        assert done.exit_code == 0, words
