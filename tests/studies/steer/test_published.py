"""A run stands beside the published table, and speakers may choose whether to be guided."""

import pytest
from steering import dialogue, recorded

from bestresponse.studies.steer.findings_published import guidance_game
from bestresponse.studies.steer.solving import solve_dialogue


def test_the_choice_of_guidance_has_the_payoffs_of_the_solution():
    solved = [solve_dialogue(recorded(dialogue(seed=seed))[0]) for seed in (1, 2)]
    form = guidance_game(solved)
    assert form.actions == (("unguided", "guided"),) * 2
    for seat in range(2):
        unguided = sum(one.unguided_payoffs[seat] for one in solved) / 2
        alone = sum(one.guided_payoffs[seat] for one in solved) / 2
        both = sum(one.equilibrium_payoffs[seat] for one in solved) / 2
        assert form.payoffs[seat, 0, 0] == pytest.approx(unguided)
        assert form.payoffs[seat][(1, 0) if seat == 0 else (0, 1)] == pytest.approx(alone)
        assert form.payoffs[seat, 1, 1] == pytest.approx(both)
