"""What a search in prompt space takes at most is known before it starts; one that is stopped leaves
a whole table."""

import pytest
from steering import cast_of, dialogue, search_settings

from bestresponse.core.errors import OverBudget
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.meta_game import PromptArena
from bestresponse.studies.steer.oracles import Inventor
from bestresponse.studies.steer.psro import count_missing_psro_calls, count_most_psro_calls, psro


class Poor(SimulatedSpeaker):
    """AnswerStore so many questions and no more."""

    def __init__(self, seed, left):
        super().__init__(seed)
        self.left = left

    def complete(self, request):
        if self.left == 0:
            raise OverBudget("the next call could pass the budget")
        self.left -= 1
        return super().complete(request)


def parts(game, model=None, answers=None, **more):
    model, answers = model or SimulatedSpeaker(0), answers or AnswerStore()
    arena = PromptArena([game], cast_of(model, game.domain), answers, **more)
    return arena, Inventor(model, "a talk", answers, 1.0)


def test_the_most_calls_of_a_search_are_counted_by_hand():
    # Four tones, 3 candidates. A candidate of the first speaker takes 3 calls a play (two messages,
    # a ruling), one of the second 2, and each speaker's oracle asks one question an iteration. With
    # one iteration the worst is that nothing is found in 10 plays and all 16 profiles get 20.
    assert (
        count_most_psro_calls(dialogue(), search_settings(1, 10, 3), 1)
        == 20 * (4 + 16 + 16) + 10 * 3 * (3 + 2) + 2
    )
    # With three, that this happens first, and two manners each are found later, with 20 plays of
    # every candidate, in response to the last of three solutions.
    found_later = 20 * (6 + 36 + 36) + (10 + 2 * 3 * 20) * 3 * (3 + 2) + (1 + 2 * 3) * 2
    assert count_most_psro_calls(dialogue(), search_settings(3, 10, 3), 1) == found_later == 3524


@pytest.mark.parametrize(
    ("oracle", "swap"),
    [
        ("shotgun", False),
        ("better", True),
        ("trajectory", False),
        ("categorical", True),
        pytest.param("shotgun", True, marks=pytest.mark.soak),
        pytest.param("better", False, marks=pytest.mark.soak),
        pytest.param("trajectory", True, marks=pytest.mark.soak),
        pytest.param("categorical", False, marks=pytest.mark.soak),
    ],
)
def test_a_search_never_takes_more_and_a_second_one_nothing(oracle, swap):
    settings = search_settings(2, 8, 3, oracle, "nash", 0)
    answers = AnswerStore()
    arena, inventor = parts(dialogue(), answers=answers, swap=swap)
    most = count_most_psro_calls(dialogue(), settings, 1, swap)
    assert count_missing_psro_calls(arena, inventor, settings) == most
    psro(arena, inventor, settings)
    assert 0 < answers.calls <= most
    assert count_missing_psro_calls(*parts(dialogue(), answers=answers, swap=swap), settings) == 0


def test_a_search_of_three_speakers_is_bounded_too():
    settings = search_settings(1, 2, 1, "shotgun", "welfare", 0)
    arena, inventor = parts(dialogue("email"))
    psro(arena, inventor, settings)
    assert arena.answers.calls <= count_most_psro_calls(dialogue("email"), settings, 1)


def test_a_search_that_is_stopped_ends_with_the_last_whole_table_and_goes_on_later():
    settings = search_settings(2, 20, 3, "shotgun", "nash", 0)
    answers = AnswerStore()
    # 4 first messages and at most 32 more make one play of all profiles; 200 calls make at least 5
    # plays of them.
    found = psro(*parts(dialogue(), Poor(0, 200), answers), settings)
    assert found.stopped == "the next call could pass the budget"
    assert found.prompts[0] == ("calm", "assertive", "submissive", "any")
    assert 5 <= found.game.counts.min() == found.game.counts.max() < 20
    assert len(found.history) == 1
    left = count_missing_psro_calls(*parts(dialogue(), answers=answers), settings)
    assert 0 < left <= count_most_psro_calls(dialogue(), settings, 1) - 150
    whole = psro(*parts(dialogue(), answers=answers), settings)
    fresh = psro(*parts(dialogue()), settings)
    assert whole.stopped == ""
    assert (whole.game.samples == fresh.game.samples).all()


def test_a_search_that_is_stopped_while_it_looks_for_responses_keeps_its_table():
    settings = search_settings(3, 20, 3, "shotgun", "nash", 0)
    arena, _ = parts(dialogue())
    arena.sample_many(
        [
            ((a, b), k)
            for k in range(20)
            for a in arena.manners.options
            for b in arena.manners.options
        ]
    )
    found = psro(*parts(dialogue(), Poor(0, arena.answers.calls + 5)), settings)
    assert found.stopped
    assert found.game.counts.tolist() == [[20] * 4] * 4


def test_a_search_without_one_whole_table_is_an_error():
    with pytest.raises(OverBudget):
        psro(*parts(dialogue(), Poor(0, 20)), search_settings(3, 20))
