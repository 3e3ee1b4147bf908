"""Published figures of recorded play are found again in the records, and a hand finds them in a
small file."""

import gzip

import pytest
from recorded import needs_recorded, recorded

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.studies.reproduce.recorded_play import measure_basin


def write(path, header, *rows):
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write("\n".join([header, *rows]) + "\n")


def find(reproduction, what):
    (check,) = [check for check in reproduction.checks if check.what == what]
    return check


@needs_recorded("play")
@pytest.mark.parametrize(
    ("paper", "folder", "compared"),
    [("akata", "akata", 20), ("fairgame", "fairgame", 10), ("dilemma", "people", 16)],
)
def test_every_published_figure_of_the_records_is_found_again(paper, folder, compared):
    result = br.reproduce(paper, recorded("play") / folder)
    assert [check.what for check in result.differing] == []
    assert sum(check.agrees is True for check in result.checks) == compared


def test_the_share_of_the_maximum_is_worked_out_in_both_normalisations(tmp_path):
    cells = ",".join(f"r{i}_c{j}_p{p}" for i in (1, 2) for j in (1, 2) for p in (1, 2))
    write(
        tmp_path / "games.csv.gz",
        f"game_number,game_family,{cells}",
        "1,Biased,3,4,2,3,4,2,1,1",
        "2,Cyclic,3,3,3,1,4,2,1,4",
    )
    header = "game_number,round,player1,player2,answer1,answer2,points1,points2,total1,total2"
    rounds = [f"1,{n},act_gpt4,act_llama2,A,B,2,3,{2 * n},{3 * n}" for n in range(1, 11)]
    write(tmp_path / "rounds.csv.gz", header, *rounds)
    pd_header = "round,player1,player2,answer1,answer2"
    defected = [
        f"{n},act_gpt4,act_defect_once,{'J' if n < 3 else 'F'},{'F' if n == 1 else 'J'}"
        for n in range(1, 11)
    ]
    write(tmp_path / "pd.csv.gz", pd_header, *defected)
    write(tmp_path / "bos.csv.gz", pd_header, "1,act_gpt4,act_jf,J,J", "2,act_gpt4,act_jf,J,F")
    people = [
        f"{person},{game},1,7,{foe},1"
        for person in (1, 2)
        for game in ("PD", "BoS")
        for foe in ("Base", "Prompted")
    ]
    write(tmp_path / "people.csv.gz", "id,game,action,score,opponent,coordination", *people)
    result = br.reproduce("akata", tmp_path)
    # GPT-4 had 2 a round: all that anybody had in that seat, and half of the 4 that the table
    # holds.
    check = find(result, "share of the maximum, gpt4")
    assert (check.found, check.remark, check.agrees) == (1.0, "corrected: 0.5000", None)
    assert find(result, "payoff tables with ties").found == 1
    assert find(result, "seats whose largest payoff nobody got").found == "2 of 2"
    assert find(result, "GPT-4 cooperates again after one defection").found == "0 of 8 rounds"
    assert (
        find(result, "GPT-4 coordinates with a partner who alternates").found == "0.500 of rounds"
    )
    assert find(result, "people against Base GPT-4, PD, action").found == 1.0


def test_personas_are_compared_and_wrong_payoffs_counted(tmp_path):
    cells = {
        "agent1_llm": "M",
        "agent1_personality": "cooperative",
        "agent1_strategies": "\"['OptionA', 'OptionB']\"",
        "agent1_scores": '"[10, 7]"',
        "agent2_llm": "M",
        "agent2_personality": "selfish",
        "agent2_strategies": "\"['OptionA', 'OptionB']\"",
        "agent2_scores": '"[7, 7]"',  # the second should be 10
        "game": "battle-sexes",
        "payoff_type": "conventional",
        "language": "en",
        "n_rounds_is_known": "True",
    }
    header, row = ",".join(cells), ",".join(cells.values())
    write(tmp_path / "games.csv.gz", header, row)
    result = br.reproduce("fairgame", tmp_path)
    assert find(result, "battle-sexes, cooperative: OptionA").found == 0.5
    assert find(result, "rounds whose recorded payoffs are not those of the moves").found == 1


def test_cooperation_by_study_and_period(tmp_path):
    header = "match,study,treatment,period,move,other_before,R,S,T,P,delta,error,infinite"
    rows = [
        "1,DF,6,1,C,,0.12,0,0.228,0.078,0.5,0,1",
        "1,DF,6,2,D,D,0.12,0,0.228,0.078,0.5,0,1",
        "2,DF,6,1,D,,0.12,0,0.228,0.078,0.5,0,1",
        "3,DF,7,1,C,,0.12,0,0.228,0.078,0.75,0,1",
    ]
    write(tmp_path / "dilemma.csv.gz", header, *rows)
    result = br.reproduce("dilemma", tmp_path)
    assert find(result, "DF, cooperation in all periods").found == 0.5
    assert find(result, "DF, cooperation in first period").found == 0.6667
    assert find(result, "DF, R 0.12, delta 0.5, first period").found == 0.5
    assert find(result, "a longer future raises cooperation in the first period").agrees


def test_the_basin_of_defection_is_that_of_the_paper():
    # Dal Bo & Frechette 2011 give 0.72, 0.27, 0.38 and 0.16 for payoffs 12, 50 and 25; at R 32
    # nobody should cooperate.
    assert measure_basin(40, 12, 50, 25, 0.5) == pytest.approx(13 / 18)
    assert [
        round(measure_basin(r, 12, 50, 25, d), 2) for r, d in ((40, 0.75), (48, 0.5), (48, 0.75))
    ] == [
        0.27,
        0.38,
        0.16,
    ]
    assert measure_basin(32, 12, 50, 25, 0.5) == 1.0


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"rounds\.csv\.gz is missing"):
        br.reproduce("akata", tmp_path)
