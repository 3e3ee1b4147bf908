"""Stories in four languages are told apart by how their games are built."""

import pytest

import bestresponse as br
from bestresponse.formal.formalize.plan import count_amounts, library, nearest

STORIES = {
    "german poker": (
        "Aus einem gemischten Stapel wird eine Karte gezogen. Nur Anna sieht sie. Sie erhöht oder"
        " gibt auf. Danach geht Bernd mit oder er passt."
    ),
    "spanish poker": (
        "Se saca una carta al azar de la baraja. Solo Ana la ve; Bruno no sabe cuál es. Ana sube o"
        " se retira. Después Bruno iguala o se retira."
    ),
    "french poker": (
        "Une carte est tirée au hasard. Seule Anne la connaît ; Bruno l'ignore. Anne mise ou se"
        " couche, ensuite Bruno suit ou se couche."
    ),
    "german dilemma": "Zwei Gefangene werden getrennt verhört. Jeder kann schweigen oder gestehen.",
    "german auction": (
        "Zwei Händler geben verdeckte Gebote von 0 bis 50 Euro in einem Umschlag ab. Wer höher"
        " bietet, bekommt die Vase."
    ),
    "spanish offer": (
        "Ana ofrece a Bruno entre 0 y 10 monedas. Después Bruno acepta o rechaza la oferta."
    ),
    "french fund": "Trois voisins contribuent à une cagnotte commune, qui est doublée et partagée.",
    "english prices": "Two firms choose prices at the same time.",
    "english delegation": (
        "Two shops set prices or delegate them to a mediator, who sets high ones if both delegate."
    ),
    "german delegation": (
        "Zwei Läden wählen ihre Preise oder überlassen die Wahl einem Vermittler. Er wählt für beide"
        " einen hohen Preis, wenn beide sie ihm überlassen."
    ),
}


@pytest.mark.parametrize(
    ("story", "amounts", "example"),
    [
        ("german poker", 0, "used_car"),
        ("spanish poker", 0, "used_car"),
        ("french poker", 0, "used_car"),
        ("german dilemma", 0, "prisoners_dilemma"),
        ("german auction", 51, "auction"),
        ("spanish offer", 11, "two_offers"),
        ("french fund", 0, "public_goods"),
        ("english prices", 0, "prisoners_dilemma"),
        ("english delegation", 0, "mediator"),
        ("german delegation", 0, "mediator"),
    ],
)
def test_a_story_is_read_in_its_own_language(story, amounts, example):
    assert count_amounts(STORIES[story]) == amounts
    assert nearest(STORIES[story], library())[0].name == example


@pytest.mark.parametrize(
    ("example", "story"),
    [
        (
            "used_car",
            (
                "A seller owns a phone that works well or badly, each with probability 1/2. Only"
                " the seller knows which. She asks a high price or a low price. The buyer sees the"
                " price but not the quality, and buys or walks away."
            ),
        ),
        (
            "hidden_card",
            (
                "A card is drawn at random, king or queen. Ana looks at it; Boris does not. Ana"
                " raises or folds. If she raises, Boris calls or folds without knowing the card."
            ),
        ),
        (
            "used_car",
            (
                "A graduate is able or not with chance 1/3. She knows it and studies or not. A firm"
                " sees the diploma, not the ability, and offers a senior or a junior post."
            ),
        ),
        (
            "private_auction",
            (
                "Two bidders each privately value a lamp at 10 or 20, equally likely and"
                " independently. Each knows only its own value and bids 5, 10 or 15 in a sealed"
                " envelope; the higher bid wins."
            ),
        ),
        (
            "committee",
            (
                "Three members of a board vote for the old or the new plan at the same time; the"
                " majority decides."
            ),
        ),
        (
            "two_offers",
            (
                "Pat offers Quinn a share of 10 coins, from 0 to 10. Quinn accepts or rejects;"
                " after a rejection both get nothing."
            ),
        ),
        (
            "trust",
            (
                "A newcomer enters a market or stays out. If it enters, the incumbent sees it and"
                " fights or shares the market."
            ),
        ),
        (
            "public_goods",
            (
                "Four neighbours each contribute 0, 5 or 10 to a fund that is doubled and split"
                " evenly."
            ),
        ),
        (
            "meeting_place",
            (
                "Kim and Lee want to spend the evening together. Kim prefers the opera, Lee the"
                " match; alone neither enjoys it. They choose without talking."
            ),
        ),
        (
            "rock_paper_scissors",
            (
                "Two children show rock, paper or scissors at once. Rock beats scissors, scissors"
                " beat paper, paper beats rock."
            ),
        ),
        (
            "auction",
            (
                "Two dealers bid 0 to 4 for a vase worth 5 in sealed envelopes. The higher bidder"
                " wins and pays the bid."
            ),
        ),
        (
            "prisoners_dilemma",
            "Two suspects in separate rooms stay silent or confess. Both silent: one year each.",
        ),
    ],
)
def test_the_example_that_is_shown_is_built_like_the_story(example, story):
    assert nearest(story, library())[0].name == example


def test_the_story_with_a_mediator_is_the_dilemma_changed_by_the_mechanism(tmp_path):
    program = next(one.program for one in library() if one.name == "mediator")
    path = tmp_path / "told.pl"
    path.write_text(program, "utf-8")
    compared = br.compare(str(path), "prisoners-dilemma with mediator")
    assert compared.relation == "renamed"
    assert compared.actions["ida"]["leave"] == "delegate"
