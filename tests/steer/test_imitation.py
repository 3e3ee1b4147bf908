"""A network imitates equilibria and is judged on games it has not seen."""

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.games.dialogue_domain import load_domain
from bestresponse.players.speaker_simulated import SimulatedSpeaker
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.embedding import MiniLM
from bestresponse.studies.steer.imitation import HashedWords, Training, imitate, train
from bestresponse.studies.steer.playing import BookFile
from bestresponse.studies.steer.session import run_cfr


def test_a_network_learns_which_input_wants_which_distribution():
    inputs = np.eye(4)
    targets = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5], [0, 0, 1]])
    network = train(inputs, targets, Training(steps=600, batch=4, hidden=32))
    assert network(inputs) == pytest.approx(targets, abs=0.05)
    # No distribution fits better than the targets themselves, whose mean entropy is log(2) / 4.
    assert network.loss == pytest.approx(np.log(2) / 4, abs=0.02)


def test_equal_texts_have_equal_embeddings_of_length_one_and_different_ones_differ():
    first, same, other = HashedWords()(["Let me be clear.", "let me be clear", "There is no hurry."])
    assert np.array_equal(first, same)
    assert np.linalg.norm(first) == pytest.approx(1)
    assert first @ other < 0.5


def test_a_missing_sentence_model_is_a_sentence(monkeypatch):
    monkeypatch.setattr("bestresponse.studies.steer.embedding.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="--embed minilm needs onnxruntime"):
        MiniLM()


def test_imitation_in_debates_gains_on_games_it_has_not_seen(tmp_path):
    # The opener of a message shows its style, so the best answering style can be learned from words alone.
    config = SteerConfig("debate", "simulated", games=16, wordings=16, iterations=200)
    with BookFile(tmp_path / "book.jsonl") as file:
        games = run_cfr(config, load_domain("debate"), {"simulated": SimulatedSpeaker(0)}, file).games
    found = imitate(games, 4, HashedWords(), Training(steps=800, hidden=64))
    assert found.trained_on == 12
    assert len(found.gains) == 4
    assert 0 < np.mean(found.gains) <= np.mean(found.solver_gains) + 1e-6
    with pytest.raises(UsageError, match="expected 1 to 15 of the 16 solved games"):
        imitate(games, 16, HashedWords())
