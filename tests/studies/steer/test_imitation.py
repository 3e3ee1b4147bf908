"""A network imitates the policies of CFR and is judged on games that it has not seen."""

import json

import numpy as np
import pytest
from steer_command import summary

import bestresponse as br
from bestresponse.core.errors import SettingError, StoreError, UsageError
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer import imitation, session
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.embedding import HashedWords
from bestresponse.studies.steer.imitation import (
    PolicyNetwork,
    Training,
    _multiply,
    build_choice_game,
    cross_entropy,
    describe_situation,
    embed_texts,
    find_most_similar,
    imitate,
    train_network,
)
from bestresponse.studies.steer.session import run
from bestresponse.studies.steer.study import measure_steering
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree, policy_from_table

QUICK = Training(steps=300, hidden=32)


@pytest.fixture(scope="module")
def debates():
    """What was learnt from six debates and judged on four, with a smaller and shorter training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "Training", lambda seed: QUICK)
        config = SteerConfig("debate", solver="imitation", games=6, held_out=4, wordings=4)
        return run(config, {"simulated": SimulatedSpeaker(0)}, AnswerStore())[0]


def test_a_network_learns_which_input_wants_which_distribution():
    inputs = np.eye(4)
    targets = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5], [0, 0, 1]])
    network = train_network(inputs, targets, Training(steps=600, batch=4, hidden=32))
    assert network(inputs) == pytest.approx(targets, abs=0.05)
    # No distribution fits better than the targets themselves, whose mean entropy is log(2) / 4.
    assert cross_entropy(network(inputs), targets) == pytest.approx(np.log(2) / 4, abs=0.02)


def test_the_published_training_is_the_default():
    how = Training()
    assert (how.steps, how.batch, how.rate, how.hidden) == (10_000, 128, 0.001, 256)
    config = SteerConfig("fruit", solver="imitation")
    assert (config.games, config.iterations, config.held_out, config.fresh) == (200, 10, 50, 0)


@pytest.mark.parametrize("shape", [(128, 768, 256), (768, 128, 256), (5, 7, 3), (100, 33, 20)])
def test_products_in_blocks_are_products(shape):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=shape[:2]), rng.normal(size=shape[1:])
    made = _multiply(left.astype(np.float32), right.astype(np.float32))
    assert made == pytest.approx(left @ right, abs=1e-3)


def test_a_network_comes_back_from_its_file():
    network = train_network(np.eye(3), np.eye(3), Training(steps=5, hidden=4))
    again = PolicyNetwork.from_json(json.loads(json.dumps(network.to_json())))
    assert np.array_equal(again(np.eye(3)), network(np.eye(3)))
    assert again.width == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda layers: layers[:0],
        lambda layers: layers[::-1],
        lambda layers: [{**layers[0], "shape": [-1, 4]}, *layers[1:]],
        lambda layers: [{**layers[0], "weights": "?"}, *layers[1:]],
        lambda layers: [{"shape": [3, 4]}],
        lambda layers: {"a": 1},
        lambda layers: 7,
    ],
)
def test_a_damaged_network_is_refused(change):
    layers = train_network(np.eye(3), np.eye(3), Training(steps=1, hidden=4)).to_json()
    with pytest.raises(StoreError, match="the learnt policy cannot be read"):
        PolicyNetwork.from_json(change(layers))


def test_a_situation_is_768_numbers_half_of_them_for_the_messages():
    row = embed_texts(["You are Ada."], [""], HashedWords())[0]
    assert row.shape == (768,)
    assert np.linalg.norm(row[:384]) == pytest.approx(1)
    assert not row[384:].any()
    spoken = embed_texts(["You are Ada."], ["Monday?"], HashedWords())[0]
    assert np.array_equal(spoken[:384], row[:384])
    assert np.linalg.norm(spoken[384:]) == pytest.approx(1)


def test_a_situation_has_what_was_told_and_what_was_said_the_last_message_first():
    facts = {"said": [[0, 1, "one"], [1, 0, "two"]]}
    assert describe_situation(json.dumps(["player 1", "You are Ada.", "", facts])) == (
        "You are Ada.",
        "two\none",
    )


def test_the_nearest_situation_has_the_largest_cosine():
    known = np.array([[10.0, 0.0], [0.6, 0.8], [0.0, 0.1]])
    assert find_most_similar(np.array([[0.5, 0.6], [0.9, 0.1], [0.0, 3.0]]), known).tolist() == [
        1,
        0,
        2,
    ]


def test_speakers_choose_whom_to_follow_at_exact_payoffs():
    # Both say yes or no at the same time: 3 and 3 for yes, yes; 1 and 1 for no, no; else nothing.
    def answer(first):
        pay = {"yes": Leaf((3, 3)) if first == "yes" else Leaf((0, 0))}
        pay["no"] = Leaf((1, 1)) if first == "no" else Leaf((0, 0))
        return Turn("second", "s", pay)

    tree = build_tree(
        ["first", "second"], Turn("first", "f", {"yes": answer("yes"), "no": answer("no")})
    )

    def always(chance):
        mix = {"yes": chance, "no": 1 - chance}
        return policy_from_table(tree, {"first": {"f": mix}, "second": {"s": mix}})

    form = build_choice_game([always(0.0)], {"imitation": [always(0.5)], "CFR": [always(1.0)]})
    assert form.actions == (("unguided", "imitation", "CFR"),) * 2
    # One half against one half: 3/4 + 1/4; yes against one half: 3/2.
    expected = [[1, 0.5, 0], [0.5, 1, 1.5], [0, 1.5, 3]]
    assert form.payoffs[0] == pytest.approx(np.array(expected))
    assert form.payoffs[1] == pytest.approx(np.array(expected))


def test_imitation_is_judged_on_held_out_games_beside_its_baselines(debates):
    found = debates.imitation
    assert (found.games, found.network.width, len(found.unguided)) == (6, 768, 4)
    assert list(found.evaluated) == ["CFR", "imitation", "mean policy", "nearest situation"]
    gains = {
        name: np.mean([one.earned.gain for one in played])
        for name, played in found.evaluated.items()
    }
    assert 0 < gains["imitation"] <= gains["CFR"] + 0.2
    # What one debater wins the other loses, so the margin is twice the gain.
    first = found.evaluated["imitation"][0].earned
    assert first.margin == pytest.approx(2 * first.gain)


def test_the_figures_are_means_over_held_out_games(debates):
    made = measure_steering(debates)
    guides = ["CFR", "imitation", "mean policy", "nearest situation", "unguided"]
    assert [heads[0] for heads in made.groups] == guides
    gains = [one.earned.gain for one in debates.imitation.evaluated["mean policy"]]
    assert made.groups["mean policy",]["gain"].estimate == pytest.approx(np.mean(gains))
    assert made.groups["unguided",]["gain"] == 0
    (learning,) = made.frames["learning"]
    assert (learning["games"], learning["held_out"], learning["numbers"]) == (6, 4, 768)
    assert (learning["layers"], learning["embedding"]) == ("32 x 32", "words")
    choices = made.frames["guidance"]
    assert len(choices) == 9
    assert sum(row["probability"] for row in choices) == pytest.approx(1)


def test_imitation_from_the_command_line_is_repeated_without_a_call(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "Training", lambda seed: QUICK)
    words = ("meeting", "--solver", "imitation", "--games", "3", "--settings", "held_out=2")
    found = summary(tmp_path, *words)
    assert found["calls"] > 0
    rows = {row["who_guides"]: row for row in found["metrics"]}
    assert rows["imitation"]["gain"]["n"] == 2
    again = summary(tmp_path, *words)
    assert (again["calls"], again["metrics"]) == (0, found["metrics"])
    (folder,) = tmp_path.glob("steer-*")
    page = (folder / "report.html").read_text()
    assert "Learnt from counterfactual regret minimisation (cfr+, 10 iterations) on 3 games" in page
    assert "figure 4 of the published study" in page


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"held_out": 0}, "held_out: imitation is judged on held-out games: at least 1"),
        ({"policy": "cfr"}, "policy: it belongs to cfr; imitation learns the policies of cfr"),
        ({"meta": "welfare"}, "meta: it belongs to the solver psro"),
        ({"fresh": 2}, "fresh: imitation is judged exactly"),
    ],
)
def test_settings_that_imitation_does_not_read_are_refused(settings, problem):
    with pytest.raises(SettingError, match=problem):
        SteerConfig("meeting", solver="imitation", **settings)


def test_imitation_needs_two_speakers_and_games_to_learn_from():
    with pytest.raises(
        UsageError,
        match="imitation needs solved games to learn from and to be judged on, got 0 and 0",
    ):
        imitate([], [], ("calm",), HashedWords())
    config = SteerConfig("email", solver="imitation", games=1, held_out=1)
    with pytest.raises(UsageError, match="a domain of two speakers"):
        run(config, {"simulated": SimulatedSpeaker(0)}, AnswerStore())


@pytest.fixture
def trained(monkeypatch):
    """How many times a network was trained, with a quick training."""
    times = []

    def count(*args):
        times.append(1)
        return train_network(*args)

    monkeypatch.setattr(session, "Training", lambda seed: Training(steps=20, hidden=8, seed=seed))
    monkeypatch.setattr(imitation, "train_network", count)
    return times


def test_a_report_made_again_does_not_train_again(tmp_path, trained):
    made = br.steer("meeting", solver="imitation", games=2, held_out=2, output_dir=tmp_path)
    made.publish()
    assert len(trained) == 1
    again = br.load_run(made.path)
    again.publish()
    assert len(trained) == 1
    assert again.frames["learning"].rows == made.frames["learning"].rows
    assert again.summary() == made.summary()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"fingerprint": "', '"fingerprint": "0'),
        lambda text: text[:100],
        lambda text: "[]",
        lambda text: json.dumps({**json.loads(text), "network": [{"shape": [3, 4]}]}),
    ],
)
def test_a_network_of_other_data_or_a_damaged_one_is_trained_anew(tmp_path, trained, change):
    made = br.steer("meeting", solver="imitation", games=2, held_out=2, output_dir=tmp_path)
    made.publish()
    file = made.path / "network.json"
    file.write_text(change(file.read_text()))
    again = br.load_run(made.path)
    assert again.summary() == made.summary()
    assert len(trained) == 2
