"""Under noise no model is told that it chose what it did not, in any study that has noise."""

import re
from random import Random

import pytest
from courses import name_course

import bestresponse as br
from bestresponse.core.episode import Episode

ROUND = re.compile(
    r"Round (\d+): you meant (\w+), (\w+) was made, \w+ made the move (\w+); you got (\d+)\."
)
PAYOFFS = {
    ("cooperate", "cooperate"): 3,
    ("cooperate", "defect"): 0,
    ("defect", "cooperate"): 5,
    ("defect", "defect"): 1,
}
STUDIES = {
    "simulate": lambda model, **how: br.simulate(
        name_course("prisoners-dilemma", how), model, repeats=4, **how
    ),
    "tournament": lambda model, **how: br.tournament(
        name_course("prisoners-dilemma", how), [model, "tit-for-tat"], **how
    ),
}


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("noise", [0.3, 0.7])
def test_no_prompt_misstates_a_move(study, noise, tmp_path):
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return Random(f"{prompt}{study}").choice(["cooperate", "defect"])

    run = STUDIES[study](answer, rounds=5, noise=noise, seed=3, output_dir=tmp_path)
    # What really happened, by the states of every play: what each seat meant, what was made, and
    # what that pays.
    true = set()
    for play in run.folder.plays():
        state = Episode(run.game(play.data), play.record.submissions).state
        for seat in (0, 1):
            lines = [
                (
                    str(number),
                    meant[seat],
                    made[seat],
                    made[1 - seat],
                    str(PAYOFFS[made[seat], made[1 - seat]]),
                )
                for number, (meant, made) in enumerate(
                    zip(state.meant, state.played, strict=True), 1
                )
            ]
            true |= {tuple(lines[:count]) for count in range(len(lines))}
    told = {tuple(sorted(ROUND.findall(prompt))) for prompt in prompts}
    assert told <= true
    assert len(told) > 10
    assert any(meant != made for lines in told for _, meant, made, _, _ in lines)
    assert all(
        f"with a probability of {100 * noise:g} % a move is made" in prompt for prompt in prompts
    )
