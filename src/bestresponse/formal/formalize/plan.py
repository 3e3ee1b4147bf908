"""Which form a model is asked for, attempt by attempt: by what the story needs, and by the model.

A table cannot hold chance, secrets or long plays, and neither a table nor a tree holds a wide range of amounts; a
program holds every game. A model on this machine, which is a small one, begins with the simplest JSON form that can
hold the game; every other model begins with the program.

How a game is built is told by words for turns, chance, secrets, bids and shares, in four languages. English words are
matched whole, those of other languages by their beginnings, because they are inflected more. The language of a story is
the one whose commonest words it uses most.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from bestresponse.models.base import Model

Wish = Literal["auto", "program", "table", "tree"]
FormName = Literal["program", "table", "tree"]

_ENOUGH_CUES = 2
_TRIES = 2
_MOST_AMOUNTS = 8
_RANGE = re.compile(r"\b(?:from|between)?\s*(\d{1,9})\s*(?:to|and|up to|-|–|bis|und|à|et|a|y|hasta)\s*(\d{1,9})\b")
_BETWEEN = re.compile(
    r"\b(?:from|between|any|whole|offers?|bids?|amount|number|zwischen|von|bietet|betrag|entre|de|desde|ofrece|offre)\b",
    re.IGNORECASE,
)
_AROUND = 40


@dataclass(frozen=True, slots=True)
class Structure:
    """What the words of a story say about its game; `amounts` is the widest range of numbers to choose from."""

    hidden: bool = False
    turns: bool = False
    amounts: int = 0

    def holds(self, form: FormName) -> bool:
        """Whether a game of this structure can be written in a form."""
        if form == "program":
            return True
        return self.amounts <= _MOST_AMOUNTS and not (form == "table" and self.hidden)


def read_structure(story: str) -> Structure:
    """Read how the game of a story is built.

    >>> read_structure("A card is drawn at random; only Ann knows it. Bob bids any amount from 0 to 50.")
    Structure(hidden=True, turns=False, amounts=51)
    """
    cues = count_cues(story)
    widths = [
        int(found[2]) - int(found[1]) + 1
        for found in _RANGE.finditer(story)
        if _BETWEEN.search(story[max(0, found.start() - _AROUND) : found.end()])
    ]
    hidden = cues["#chance"] + cues["#secret"] >= _ENOUGH_CUES
    return Structure(hidden, cues["#turns"] >= _ENOUGH_CUES, max([0, *widths]))


def plan(wish: Wish, model: Model, attempts: int, story: str = "") -> tuple[FormName, ...]:
    """Choose the form of every attempt; after two failures in one form it is the other's turn, and so on.

    Only forms that can hold the game are asked for, unless one is wished for.
    """
    if wish != "auto":
        return (wish,) * attempts
    structure = read_structure(story)
    simple: FormName = "tree" if structure.hidden or structure.turns else "table"
    turns: tuple[FormName, ...] = ("program", simple)
    if model.identity.get("provider") == "local":
        turns = (simple, "program")
    fitting = tuple(form for form in turns if structure.holds(form))
    return tuple(fitting[number // _TRIES % len(fitting)] for number in range(attempts))


WORD: Final = re.compile(r"[^\W\d_][^\W\d_-]*(?:-[^\W\d_]+)*")
_UNSEEN = re.compile(r"\b(?:without|before|cannot|never|not|neither|nobody) (?:seeing|knowing|see|sees|learns|hears)\b")
_CUES: Final = {
    "#turns": "afterwards responds respond reply replies responder observes observing seeing sees seen learns "
    "leader follower accepts accept rejects reject offer offers incumbent entrant proposer "
    "sequence enters enter launched launch hears reads reacts react answers",
    "#chance": "chance probability probabilities likely percent dice die deck shuffled draws drawn random lottery luck "
    "equally independently",
    "#secret": "secret secretly privately private hidden card cards knows unaware unknown signal signals type types "
    "whichever",
    "#vote": "vote votes voting voters majority ballot elect elects committee",
    "#amounts": "coins pounds euros dollars amount amounts divide divides share-out split splits",
    "#three": "three trio third triple",
    "#bids": "bid bids bidding bidder bidders auction auctions auctioneer envelope envelopes sealed",
    "#shares": "contribute contributes contribution contributions pool fund kitty pot doubled tripled "
    "multiplied evenly",
    "#three-moves": "rock paper scissors beats defeats trumps",
    "#wins": "guess guesses match matches mismatch outguess catch catches hide hides seeker evade evades",
    "#together": "together apart meet meets prefers favourite company alone-or-together",
    "#dilemma": "cooperate cooperates defect defects betray betrays silent confess confesses cheat cheats",
}
_CUE_OF: Final = {word: cue for cue, words in _CUES.items() for word in words.split()}
_ENGLISH: Final = frozenset(["the", "and", "of", "to", "is", "are", "each", "they", "with", "she", "he"])


class _Language(NamedTuple):
    """The commonest words of a language, and the beginnings of its words for each cue."""

    common: frozenset[str]
    stems: dict[str, str]


_OTHERS: Final = (
    _Language(
        frozenset(
            ["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "zwei", "sie", "er", "mit", "beide", "wenn"]
        ),
        {
            "#turns": "danach daraufhin anschliessend nachdem zuerst antwort erwider reagier beobacht annehm annimmt "
            "ablehn angebot vorschlag vorschläg folgt",
            "#chance": "zufall zufäll wahrscheinlich würfel gewürfelt prozent lotterie gelost gemischt gezogen zieht "
            "münzwurf glück",
            "#secret": "geheim heimlich verdeckt verborgen karte privat unbekannt signal typ weiss kennt",
            "#vote": "abstimm mehrheit wähler ausschuss",
            "#amounts": "münze euro betrag beträge aufteil",
            "#three": "drei dritt",
            "#bids": "gebot biet versteiger auktion umschlag",
            "#shares": "einzahl beitrag beiträg beisteuer kasse topf verdoppel verdreifach",
            "#three-moves": "schere stein papier schlägt",
            "#wins": "errät errat versteck ertapp",
            "#together": "gemeinsam zusammen treffen allein",
            "#dilemma": "gesteh gesteht schweig verrät verrat kooper",
        },
    ),
    _Language(
        frozenset(["el", "la", "los", "las", "y", "que", "una", "un", "con", "si", "dos", "cada", "ella", "no"]),
        {
            "#turns": "después luego respond respuesta reacciona observa acepta rechaza oferta ofrece propone "
            "propuesta primero",
            "#chance": "azar probabilidad probable dado baraja sorte lotería aleatori suerte ciento",
            "#secret": "secret privad ocult carta sabe señal desconoce tipo",
            "#vote": "vota voto mayoría comité",
            "#amounts": "moneda euro dólar cantidad repart divid",
            "#three": "tres tercer",
            "#bids": "puja subasta postor sobre",
            "#shares": "contribu aporta fondo bote duplica triplica",
            "#three-moves": "piedra tijera papel",
            "#wins": "adivin escond coincid",
            "#together": "junto junta encontr solo sola",
            "#dilemma": "confies confes calla traicion delat coopera",
        },
    ),
    _Language(
        frozenset(["le", "la", "les", "et", "est", "une", "un", "des", "que", "deux", "il", "elle", "avec", "si"]),
        {
            "#turns": "ensuite après répond réponse réagit observe accept refus offre proposition propose abord",
            "#chance": "hasard probabilit dés tirage tire tirée lotterie loterie aléatoire chance pourcent cent",
            "#secret": "secret privé caché carte sait connaît ignore signal type",
            "#vote": "vote voix majorité comité",
            "#amounts": "pièce euro dollar somme montant partag",
            "#three": "trois",
            "#bids": "enchèr enchér mise pli",
            "#shares": "contribu cotis cagnotte fonds doublé triplé",
            "#three-moves": "pierre ciseaux feuille",
            "#wins": "devin attrap",
            "#together": "ensemble retrouv rencontr seul",
            "#dilemma": "avou tait trahi coopèr coopér dénonc",
        },
    ),
)


def count_cues(text: str) -> Counter[str]:
    """Count what the words say about how the game is built.

    >>> count_cues("Eine Karte wird zufällig gezogen, und nur sie kennt sie.")["#chance"]
    2
    """
    plain = _UNSEEN.sub(" ", text.casefold())
    words = WORD.findall(plain)
    language = max(_OTHERS, key=lambda one: sum(word in one.common for word in words))
    if sum(word in _ENGLISH for word in words) >= sum(word in language.common for word in words):
        return Counter(_CUE_OF[word] for word in words if word in _CUE_OF)
    stems = {stem: cue for cue, listed in language.stems.items() for stem in listed.split()}
    found = (next((cue for stem, cue in stems.items() if word.startswith(stem)), None) for word in words)
    return Counter(cue for cue in found if cue is not None)
