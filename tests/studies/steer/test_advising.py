"""Advice in the middle of a conversation: by the solved tree where it knows the situation, else by
what was learnt."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import bestresponse as br
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.games.dialogue.domain import load_domain
from bestresponse.studies.steer import session
from bestresponse.studies.steer.advising import FILE, Adviser, Situation, list_situations
from bestresponse.studies.steer.imitation import Training
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree, policy_from_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def meetings(folder):
    return br.steer("meeting", games=2, fresh=0, policy="credible", output_dir=folder)


@pytest.fixture(scope="module")
def imitation(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "Training", lambda seed: Training(steps=200, hidden=16))
        return br.steer("debate", solver="imitation", games=4, held_out=2, output_dir=folder)


def first_game(run):
    return run.frames["games"][0]["scenario"][0]


def test_what_is_advised_is_the_policy_and_earns_what_the_tree_says(meetings):
    scenario = first_game(meetings)
    advice = br.advise("meeting", [], scenario["private"][0], run=meetings)
    solved = meetings.results.results.solved[0]
    opening = next(infoset for infoset in solved.tree.infosets if infoset.player == 0)
    assert advice.probabilities == solved.policy.at("player 1", opening.key)
    assert (advice.source, advice.policy, advice.speaker, advice.games) == (
        "solved tree",
        "credible",
        0,
        1,
    )
    # At the first message nothing is hidden that others chose: it earns what the guided speaker
    # earns in this seat.
    assert advice.earns == pytest.approx(solved.guided_payoffs[0], abs=1e-4)
    assert advice.unguided == pytest.approx(solved.unguided_payoffs[0], abs=1e-4)
    assert advice.instruction == load_domain("meeting").manners().texts[advice.manner]


def test_a_reply_is_looked_up_by_what_was_heard(meetings):
    scenario = first_game(meetings)
    solved = meetings.results.results.solved[0]
    reply = next(infoset for infoset in solved.tree.infosets if infoset.player == 1)
    text = json.loads(reply.key)[3]["said"][0][2]
    for line in (text, (scenario["names"][0], text), {"from": scenario["names"][0], "text": text}):
        advice = br.advise("meeting", [line], scenario["private"][1], run=meetings.path)
        assert advice.probabilities == solved.policy.at("player 2", reply.key)
    assert advice.speaker == 1


def test_the_newest_run_of_the_domain_is_taken_from_a_folder(meetings, imitation, folder):
    known = first_game(meetings)["private"][0]
    assert br.advise("meeting", [], known, run=folder) == br.advise(
        "meeting", [], known, run=meetings
    )


def test_known_advice_takes_less_than_fifty_milliseconds(meetings):
    known = first_game(meetings)["private"][0]
    br.advise("meeting", [], known, run=meetings)
    taken = []
    for _ in range(20):
        start = time.process_time()
        br.advise("meeting", [], known, run=meetings)
        taken.append(time.process_time() - start)
    assert np.median(taken) < 0.05


def test_where_the_situation_is_unknown_the_learnt_policy_advises(imitation):
    public = {"topic": "Bridges should be painted red."}
    advice = br.advise(
        "debate", ["Red paint lasts longest."], {"side": "against"}, public=public, run=imitation
    )
    assert (advice.source, advice.policy, advice.games) == ("learnt policy", "cfr", 10)
    assert sum(advice.probabilities.values()) == pytest.approx(1)
    assert set(advice.probabilities) == {"logos", "ethos", "pathos", "any"}
    assert 0 <= advice.unguided <= 1
    assert 0 <= advice.earns <= 1
    assert advice.worth == {}


def test_without_a_network_the_nearest_known_situation_advises_and_is_marked(meetings):
    known = Adviser.from_text((meetings.path / FILE).read_text(), load_domain("meeting")).situations
    heard = next(one for one in known if one.said)
    words = f"{heard.said[0]} Thank you!"
    advice = br.advise("meeting", [words], heard.private, run=meetings)
    assert (advice.source, advice.games, advice.speaker) == ("nearest situation", 1, 1)
    alike = [one for one in known if one.key == heard.key]
    assert advice.probabilities in [one.probabilities for one in alike]
    assert advice.earns in [one.earns for one in alike]


def test_the_nearest_situation_is_one_with_the_same_private_information(meetings):
    known = Adviser.from_text((meetings.path / FILE).read_text(), load_domain("meeting")).situations
    replies = [one for one in known if len(one.said) == 1]
    mine, theirs = (
        [one for one in replies if (one.private == replies[0].private) is same]
        for same in (True, False)
    )
    for one in theirs:
        words = f"{one.said[0]} Thank you!"
        advice = br.advise("meeting", [words], mine[0].private, run=meetings)
        assert advice.source == "nearest situation"
        assert advice.worth in [own.worth for own in mine]


def test_the_same_situation_of_several_games_is_averaged(imitation):
    # Nobody has spoken and the side is all that a debater knows: every game with this side first is
    # the same.
    situations = imitation.results.results.learnt
    firsts = [
        json.loads(game.unguided.tree.infosets[0].key)[3]["private"]["side"] for game in situations
    ]
    side = firsts[0]
    advice = br.advise("debate", [], {"side": side}, run=imitation)
    assert (advice.source, advice.games) == ("solved tree", firsts.count(side))


def test_what_a_manner_earns_is_worked_out_by_hand():
    # The first speaks calmly or firmly, the second accepts or not; the unguided second accepts a
    # calm offer only.
    def reply(heard, accepted, refused):
        return Turn("player 2", key(1, heard), {"yes": Leaf(accepted), "no": Leaf(refused)})

    def key(seat, *heard):
        said = [[0, 1, text] for text in heard]
        facts = {"seat": seat, "private": {}, "public": {}, "own": [], "said": said}
        return json.dumps([f"player {seat + 1}", "told", "", facts, []])

    moves = {"calm": reply("please", (2, 2), (0, 0)), "firm": reply("now", (6, 1), (1, 0))}
    tree = build_tree(["player 1", "player 2"], Turn("player 1", key(0), moves))

    def policy(calm, please, now):
        return policy_from_table(
            tree,
            {
                "player 1": {key(0): {"calm": calm, "firm": 1 - calm}},
                "player 2": {
                    key(1, "please"): {"yes": please, "no": 1 - please},
                    key(1, "now"): {"yes": now, "no": 1 - now},
                },
            },
        )

    opening, *replies = list_situations(policy(0.25, 1, 1), policy(1, 1, 0))
    # Among unguided partners calm earns 2 and firm 1: a quarter of 2 and three quarters of 1.
    assert opening.worth == pytest.approx({"calm": 2, "firm": 1})
    assert (opening.earns, opening.unguided) == (pytest.approx(1.25), pytest.approx(2))
    assert {one.said: one.worth for one in replies}[("now",)] == pytest.approx({"yes": 1, "no": 0})


def make_adviser(**more):
    situation = Situation(
        speaker=0,
        private={"side": "for"},
        public={"topic": "a"},
        told="told",
        said=(),
        own=(),
        probabilities={"logos": 1.0},
        worth={"logos": 1.0},
        unguided=0.5,
    )
    how = {"domain": load_domain("debate"), "manners": "", "replies": 1, "policy": "cfr"}
    return Adviser(**{**how, "situations": (situation,), **more}), situation


def test_what_everybody_knows_and_own_manners_decide_which_situation_it_is():
    _, first = make_adviser()
    other = replace(
        first, public={"topic": "b"}, probabilities={"ethos": 1.0}, worth={"ethos": 0.0}
    )
    adviser, _ = make_adviser(situations=(first, other))
    assert adviser.advise([], {"side": "for"}, public={"topic": "b"}).manner == "ethos"
    both = adviser.advise([], {"side": "for"})
    assert (both.games, both.probabilities, both.earns) == (2, {"logos": 0.5, "ethos": 0.5}, 0.5)
    spoken = replace(first, said=("x", "y"), own=("logos to 1",))
    told = replace(
        spoken, own=("ethos to 1",), probabilities={"pathos": 1.0}, worth={"pathos": 1.0}
    )
    adviser, _ = make_adviser(situations=(spoken, told), replies=2)
    assert (
        adviser.advise([{"text": "x", "manner": "ethos"}, "y"], {"side": "for"}).manner == "pathos"
    )


@pytest.mark.parametrize(
    ("transcript", "private", "problem"),
    [
        ("Hello", {"side": "for"}, "the transcript is 'Hello', expected a list of messages"),
        (
            [7],
            {"side": "for"},
            "message 1 is 7, expected a text, a name with a text, or an object with `text`",
        ),
        (["  "], {"side": "for"}, "message 1 has 0 characters, expected 1 to 4000"),
        (["x" * 4001], {"side": "for"}, "message 1 has 4001 characters, expected 1 to 4000"),
        (
            ["a", "b"],
            {"side": "for"},
            "the transcript has 2 messages; a debate dialogue of this run is over after 2",
        ),
        (
            [],
            {"side": "up"},
            "this does not fit debate: side of private is 'up', expected for or against",
        ),
        (
            [],
            {"values": {"Monday": 1}},
            "this does not fit debate: private has 'values', expected only side",
        ),
        ([], "for", "this does not fit debate: private is 'for', expected an object"),
        (
            ["Nobody ever said this."],
            {"side": "against"},
            "the topic of the debate is missing: give it in `public`",
        ),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(imitation, transcript, private, problem):
    with pytest.raises(UsageError) as told:
        br.advise("debate", transcript, private, run=imitation)
    assert str(told.value) == problem


def test_speakers_take_turns():
    adviser, _ = make_adviser(replies=3)
    with pytest.raises(UsageError, match="message 3 is by Bo; it is the turn of Ada"):
        adviser.advise([("Ada", "x"), ("Bo", "y"), ("Bo", "z")], {"side": "against"})
    with pytest.raises(UsageError, match="message 2 is by Ada, who is not on turn"):
        adviser.advise([("Ada", "x"), ("Ada", "y")], {"side": "for"})
    with pytest.raises(UsageError, match="debate has 2 speakers, got 3 names"):
        adviser.advise([], {"side": "for"}, names=["a", "b", "c"])


def test_a_policy_for_another_domain_is_refused(meetings, folder):
    with pytest.raises(UsageError, match=r"has no advice: it is for meeting, not for debate"):
        br.advise("debate", [], {"side": "for"}, run=meetings)
    with pytest.raises(UsageError, match="there is no solved dialogue of fruit below"):
        br.advise("fruit", [], {}, run=folder)
    with pytest.raises(UsageError, match="there is no domain named fruits"):
        br.advise("fruits", [], {}, run=folder)


@pytest.mark.parametrize("text", ["", "[]", '{"domain": "meeting"}', "{", '{"domain": {}}'])
def test_a_damaged_file_is_a_sentence(meetings, tmp_path, text):
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / FILE).write_text(text)
    with pytest.raises((StoreError, UsageError), match="advice"):
        br.advise("meeting", [], {"values": {"Monday": 1, "Friday": 2}}, run=tmp_path)


def test_a_run_leaves_its_trees_for_other_solvers(meetings):
    game = br.find_game(str(meetings.path / "tree-0.efg")).solvable()
    assert game.num_nodes == meetings.frames["games"][0]["nodes"]
    solved = meetings.results.results.solved[0].tree
    assert sorted(map(tuple, game.payoffs.tolist())) == sorted(map(tuple, solved.payoffs.tolist()))


def test_the_tool_for_clients_gives_the_same_advice(meetings, folder, tmp_path, monkeypatch):
    from bestresponse.integrations.mcp.tools import SpokenLine, advise_speaker

    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="there is no solved dialogue of meeting below results"):
        advise_speaker("meeting", [], {})
    (tmp_path / "results").symlink_to(folder)
    scenario = first_game(meetings)
    told = advise_speaker("meeting", [], scenario["private"][0])
    expected = br.advise("meeting", [], scenario["private"][0], run=meetings)
    assert (told.manner, told.earns, told.source) == (
        expected.manner,
        expected.earns,
        "solved tree",
    )
    with pytest.raises(UsageError, match="over after 2"):
        advise_speaker(
            "meeting", [SpokenLine(text="a"), SpokenLine(text="b")], scenario["private"][0]
        )
