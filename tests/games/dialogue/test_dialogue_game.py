"""A dialogue is a game of perfect recall, built once, whose every choice is voiced."""

import re

import pytest
from steering import cast_of, dialogue, recorded

from bestresponse.core.conformance import check_game
from bestresponse.core.errors import InvalidGame, OverBudget
from bestresponse.games.dialogue.domain import (
    domain_names,
    load_domain,
    parse_domain,
    read_domain_text,
    scenarios,
)
from bestresponse.games.dialogue.game import (
    PERSON,
    Book,
    DialogueGame,
    Entry,
    RecordedDialogue,
    make_plain_dialogue,
)
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.building import build_dialogue, size_of
from bestresponse.studies.steer.solving import solve_dialogue
from bestresponse.telling.language import find_home, load_language
from bestresponse.telling.render import word_rules, write_history, write_private
from bestresponse.theory import cfr, compile_game


@pytest.mark.parametrize(("replies", "wordings", "most"), [(1, 1, 140), (1, 2, 536), (2, 1, 2300)])
def test_a_tree_takes_few_calls_and_a_second_build_none(replies, wordings, most):
    game = dialogue(replies=replies)
    model = SimulatedSpeaker(0)
    answers = AnswerStore()
    built = build_dialogue(game, cast_of(model, game.domain), answers, wordings=wordings, workers=4)
    size = size_of(game, wordings)
    assert 0 < built.calls <= size.messages + size.rulings <= most
    again = build_dialogue(game, cast_of(model, game.domain), answers, wordings=wordings)
    assert again.calls == 0


def test_the_most_calls_are_counted_by_hand():
    # 4 first messages, 16 answers to them, 16 rulings; with two wordings 8, 64 and 64; with two
    # replies 4+16+64+256
    assert (size_of(dialogue(), 1).messages, size_of(dialogue(), 1).rulings) == (20, 16)
    assert (size_of(dialogue(), 2).messages, size_of(dialogue(), 2).rulings) == (72, 64)
    assert (size_of(dialogue(replies=2), 1).messages, size_of(dialogue(replies=2), 1).rulings) == (
        340,
        256,
    )


def test_the_number_of_calls_does_not_depend_on_solving():
    counted = ScriptedModel(SimulatedSpeaker(0).complete)
    game, built = recorded(dialogue(), model=counted)
    solve_dialogue(game, 10)
    solve_dialogue(game, 500)
    assert len(counted.asked) == built.calls <= 36


@pytest.mark.parametrize("name", domain_names())
def test_every_domain_keeps_the_promises_of_games_live_and_recorded(name):
    live = dialogue(name)
    check_game(recorded(live)[0])
    assert live.asks(live.start())["player 1"].options == live.options(0)


def test_information_sets_hold_own_private_information_own_choices_and_the_transcript():
    game, _ = recorded(dialogue(replies=2))
    view = game.view(game.start(), "player 1")
    assert view.facts["private"] == game.live.cases[0].private[0]
    state = game.apply(game.apply(game.start(), {"player 1": "calm"}), {"nature": 0})
    other = game.view(state, "player 2")
    assert other.facts["own"] == []
    assert other.facts["said"][0][2] == state.said[0].text
    assert "calm" not in write_history(other).replace(state.said[0].text, "")
    assert game.view(state, "player 1").facts["own"] == ["calm to 1"]


def test_trees_have_perfect_recall_and_cfr_solves_them():
    game, _ = recorded(dialogue(replies=2, types=2))
    result = cfr(compile_game(game), 300)
    assert result.nash_conv < 0.01


def test_every_choice_is_voiced_also_the_last():
    game, _ = recorded(dialogue())
    state = game.start()
    for _ in range(2):
        ((role, ask),) = game.asks(state).items()
        state = game.apply(state, {role: ask.options[0]})
        state = game.apply(state, {"nature": 0})
    assert game.asks(state) == {}
    assert [bool(one.text) for one in state.said] == [True, True]


def test_with_three_speakers_the_addressee_is_part_of_the_choice_and_never_oneself():
    game = dialogue("email")
    mine, first, second = game.names
    assert game.options(0) == tuple(
        f"{tone}, to {name}" for tone in ("calm", "assertive", "any") for name in (first, second)
    )
    assert all(not option.endswith(f"to {mine}") for option in game.options(0))
    assert len(set(game.options(0))) == 6


def test_ten_speakers_can_talk():
    text = (_source("email")).replace("players = 3", "players = 10")
    domain = parse_domain(text)
    game = DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners())
    assert len(game.roles) == 10
    assert len(game.options(3)) == 3 * 9


@pytest.mark.parametrize("name", domain_names())
def test_a_seed_gives_a_thousand_different_games(name):
    domain = load_domain(name)
    drawn = scenarios(domain, 7, 1000)
    assert len({one.id for one in drawn}) == 1000
    assert drawn[:10] == scenarios(domain, 7, 10)


def test_in_a_debate_the_sides_always_differ():
    drawn = scenarios(load_domain("debate"), 3, 1000)
    assert all(one.private[0]["side"] != one.private[1]["side"] for one in drawn)


def test_an_agreement_may_end_the_talk_early():
    longer, _ = recorded(dialogue(replies=2))
    shorter, built = recorded(dialogue(replies=2, early_end=True))
    assert compile_game(shorter).num_nodes < compile_game(longer).num_nodes
    assert built.stopped == ""


def test_a_build_stopped_by_its_budget_leaves_a_valid_game():
    class Poor(SimulatedSpeaker):
        left = 20

        def complete(self, request):
            if self.left == 0:
                raise OverBudget("the next call could exceed the budget: 21 calls of 20")
            self.left -= 1
            return super().complete(request)

    game, built = recorded(dialogue(), model=Poor(0))
    assert built.stopped.startswith("the next call")
    check_game(game)
    assert 1 <= len(game.asks(game.start())["player 1"].options) < 4
    assert cfr(compile_game(game), 100).nash_conv < 0.1
    rest = build_dialogue(
        game.live, cast_of(SimulatedSpeaker(0), game.live.domain), AnswerStore(game.book)
    )
    assert rest.stopped == ""
    assert rest.calls > 0


def test_nothing_on_record_is_no_game():
    with pytest.raises(InvalidGame, match="no meeting dialogue can be played to its end"):
        RecordedDialogue(dialogue(), Book())


def test_a_model_that_answers_nothing_or_far_too_much_leaves_voids_not_zeros():
    for reply, why in (("", "answered nothing"), ("x" * 100_000, "100000 characters")):
        game = dialogue()
        book = Book()
        build_dialogue(
            game,
            cast_of(ScriptedModel(lambda request, reply=reply: reply), game.domain),
            AnswerStore(book),
        )
        assert all(entry.text is None and why in entry.reading.how for entry in book.entries)
        with pytest.raises(InvalidGame):
            RecordedDialogue(game, book)


def test_a_wording_whose_ending_cannot_be_read_is_not_drawn():
    def sometimes_unreadable(request):
        reply = SimulatedSpeaker(0).complete(request)
        is_ruling = "impartial referee" in request.messages[0].content
        return (
            "hm"
            if is_ruling and "It has to be" in request.messages[-1].content.rpartition("[2]")[2]
            else reply
        )

    game, _ = recorded(dialogue(), 8, ScriptedModel(sometimes_unreadable))
    void = [entry for entry in game.book.entries if entry.text is None]
    assert void
    assert all(entry.reading.status == "unparseable" for entry in void)
    tree = compile_game(game)
    assert (tree.payoffs[tree.leaves] > 0).any(axis=1).all()


def test_a_person_may_write_a_message_in_place_of_the_model_and_it_is_recorded():
    game, _ = recorded(dialogue())
    first = next(entry for entry in game.book.entries if entry.by == "simulated")
    game.book.add(Entry(first.key, 0, "I propose Monday. It has to be Monday.", PERSON))
    assert game.book.get(first.key).by == PERSON
    game.book.add(Entry(first.key, 0, "something else", "simulated"))
    assert game.book.get(first.key).text == "I propose Monday. It has to be Monday."


def _source(name):
    from importlib.resources import files

    return files("bestresponse.games.dialogue.domains").joinpath(f"{name}.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("referee = ", "judge = ", "texts.referee is missing"),
        ("high = 20", "high = 5", "utilities can be 0 to 20, outside the stated range 0 to 5"),
        ("available = [2, 4]", "available = [0, 4]", "no deal is reachable"),
        ("players = 2", "players = 11", "players is 11, expected 2 to 10"),
        ("players = 2", 'players = 2\ncolour = "red"', "there is no key colour"),
        (
            'new = "Write in',
            'nwe = "Write in',
            r"there is no key actions.tone.nwe. Did you mean actions.tone.new\?",
        ),
        ('neutral = "any"', 'neutral = "none"', "expected one of calm"),
        ('calm = "Write in a calm tone."', "", "has no text for 'calm'"),
        ("Write in a calm tone.", "Write in an assertive tone.", "two actions have the same text"),
        ("$values", "$worth", "the place \\$worth is not known"),
        ('kind = "option"', 'kind = "auction"', "deal.kind is 'auction'"),
        ("[utilities]", "[utilities", "is not TOML"),
    ],
)
def test_a_wrong_domain_file_is_refused_with_a_sentence(old, new, complaint):
    with pytest.raises(InvalidGame, match=complaint):
        parse_domain(_source("meeting").replace(old, new, 1), "mine.toml")


@pytest.mark.parametrize("name", ["/../../victim", "..", "a/b", "", " ", "a" * 61])
def test_a_domain_is_named_by_a_word_that_cannot_lead_to_another_folder(name):
    text = _source("meeting").replace('name = "meeting"', f'name = "{name}"')
    with pytest.raises(InvalidGame, match=r"mine\.toml: name is '.*', expected at most 60 letters"):
        parse_domain(text, "mine.toml")


def test_a_speaker_is_told_how_many_messages_follow_and_what_happens_at_the_end():
    game = dialogue(replies=2)
    told, state = [], game.start()
    for _ in range(4):
        role = game.roles[game.turn(state)]
        told += [
            line
            for line in write_history(game.view(state, role)).splitlines()
            if line.startswith("You write")
        ]
        state = game.apply(game.apply(state, {role: "calm"}), {role: "Monday?"})
    nothing = "Without an agreement nobody earns anything."
    assert told == [
        (
            "You write message 1 of 4. After it come 3 more messages, 1 of them yours, and then"
            f" the talk ends. {nothing}"
        ),
        (
            "You write message 2 of 4. After it come 2 more messages, 1 of them yours, and then"
            f" the talk ends. {nothing}"
        ),
        (
            "You write message 3 of 4, your last one. After it comes 1 more message, and then the"
            f" talk ends. {nothing}"
        ),
        (
            "You write message 4 of 4, the last of all: nobody can answer it. After it the talk"
            f" ends. {nothing}"
        ),
    ]


def test_a_debater_is_told_that_the_judge_decides_and_an_early_end_is_announced():
    debate, early = dialogue("debate"), dialogue(replies=2, early_end=True)
    assert write_history(debate.view(debate.start(), "player 1")).endswith(
        "The judge decides then."
    )
    assert "An agreement of all ends the talk at once." in write_history(
        early.view(early.start(), "player 1")
    )
    assert "You write message" not in write_history(debate.view(debate.start(), "player 2"))


def tell_seat(game, state, role, language="en"):
    spoken = load_language(language).within(find_home(game))
    return write_private(game.view(state, role), game.list_private(state, role), spoken)


def test_people_are_told_which_message_they_write_and_when_a_note_is_sealed():
    game = make_plain_dialogue("rps-talk", {"replies": 1})
    state = game.start()
    assert "You write message 1 of 2, your last one." in tell_seat(game, state, "player 1")
    assert tell_seat(game, state, "player 2") == f"You are {game.names[1]}."
    for role, words in (("player 1", "I will play rock."), ("player 2", "I will play paper.")):
        state = game.apply(state, {role: words})
    told = tell_seat(game, state, "player 1")
    assert "sealed note, which nobody reads before all have handed in theirs" in told
    assert "which of rock, paper or scissors you play" in told
    german = tell_seat(game, state, "player 1", "de")
    assert f"Sie sind {game.names[0]}." in german
    assert "was Sie spielen (Stein, Papier oder Schere)" in german


def test_a_talk_of_people_is_told_in_german_with_its_issues_prices_and_payoffs():
    job = make_plain_dialogue("job-offer", {})
    told = word_rules(job, job.view(job.start(), "player 1"), "de")
    assert (
        "Gehalt (48 Tausend, 54 Tausend, 60 Tausend); Urlaub (25 Tage, 28 Tage, 31 Tage);"
        " Arbeitsort (immer im Büro, ein Tag zu Hause, drei Tage zu Hause)"
    ) in told
    deal = make_plain_dialogue("bargaining", {})
    told = word_rules(deal, deal.view(deal.start(), "player 1"), "de")
    assert "auf einen Preis (von 0 bis 100)" in told
    shops = make_plain_dialogue("price-talk", {})
    told = word_rules(shops, shops.view(shops.start(), "player 1"), "de")
    assert "Preis 4 gegen Preis 6: 36" in told


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '[actions.tone.definitions]\ncalm = "',
            '[actions.tone.definitions]\nwild = "',
            "'wild' is not a text for one of",
        ),
        (
            "[actions.tone.labelled]\ncalm = [",
            "[actions.tone.labelled]\nwild = [",
            "expected a list of messages",
        ),
        (
            "[texts]\n",
            "[texts]\nexamples = 'It is worth 3.'\n",
            "expected a text with a line 'Value: <number>'",
        ),
        (
            "[texts]\n",
            "[payoffs]\naggregate = 'magic'\nparts = []\n[texts]\n",
            "expected one of sum, mean, least",
        ),
        ("[texts]\n", "[payoffs]\nparts = []\n[texts]\n", "payoffs.parts: expected at least one"),
        (
            "[texts]\n",
            "[payoffs]\nparts = [{question = 'Q'}]\n[texts]\n",
            "part 1 needs a question, low and high",
        ),
        (
            "[texts]\n",
            "[payoffs]\nparts = [{question = 'Of $other?', low = 0, high = 1}]\n[texts]\n",
            "payoffs.parts, part 1: the place $other is not known",
        ),
        (
            "[texts]\n",
            (
                "[payoffs]\nparts = [{question = 'Q', low = 0, high = 15}, {question = 'R', low ="
                " 0, high = 6}]\n[texts]\n"
            ),
            "stay within the utilities, 0 to 20",
        ),
        (
            "[actions.tone.texts]\n",
            "[actions.tone.models]\nwild = 'm'\n[actions.tone.texts]\n",
            "expected the name of a model for an option, got 'wild'",
        ),
    ],
)
def test_definitions_labels_and_examples_of_a_domain_are_checked(old, new, problem):
    text = read_domain_text("meeting")
    assert old in text
    with pytest.raises(InvalidGame, match=re.escape(problem)):
        parse_domain(text.replace(old, new, 1))


def test_a_meeting_may_propose_sets_of_days():
    days = load_domain("meeting").manners("days")
    assert len(days.options) == 11
    assert days.texts["Monday or Friday"] == "Propose to meet on Monday or Friday."
