"""Stories in four languages are told apart by how their games are built."""

import pytest

from bestresponse.formal.formalize.examples import library
from bestresponse.formal.formalize.plan import Structure, read_structure
from bestresponse.formal.formalize.retrieval import nearest

STORIES = {
    "german poker": "Aus einem gemischten Stapel wird eine Karte gezogen. Nur Anna sieht sie. Sie erhöht oder gibt "
    "auf. Danach geht Bernd mit oder er passt.",
    "spanish poker": "Se saca una carta al azar de la baraja. Solo Ana la ve; Bruno no sabe cuál es. Ana sube o se "
    "retira. Después Bruno iguala o se retira.",
    "french poker": "Une carte est tirée au hasard. Seule Anne la connaît ; Bruno l'ignore. Anne mise ou se couche, "
    "ensuite Bruno suit ou se couche.",
    "german dilemma": "Zwei Gefangene werden getrennt verhört. Jeder kann schweigen oder gestehen.",
    "german auction": "Zwei Händler geben verdeckte Gebote von 0 bis 50 Euro in einem Umschlag ab. Wer höher bietet, "
    "bekommt die Vase.",
    "spanish offer": "Ana ofrece a Bruno entre 0 y 10 monedas. Después Bruno acepta o rechaza la oferta.",
    "french fund": "Trois voisins contribuent à une cagnotte commune, qui est doublée et partagée.",
    "english prices": "Two firms choose prices at the same time.",
}


@pytest.mark.parametrize(
    ("story", "structure", "example"),
    [
        ("german poker", Structure(hidden=True), "used_car"),
        ("spanish poker", Structure(hidden=True), "used_car"),
        ("french poker", Structure(hidden=True), "used_car"),
        ("german dilemma", Structure(), "prisoners_dilemma"),
        ("german auction", Structure(amounts=51), "auction"),
        ("spanish offer", Structure(turns=True, amounts=11), "two_offers"),
        ("french fund", Structure(), "public_goods"),
        ("english prices", Structure(), "prisoners_dilemma"),
    ],
)
def test_a_story_is_read_in_its_own_language(story, structure, example):
    assert read_structure(STORIES[story]) == structure
    assert nearest(STORIES[story], library())[0].name == example
