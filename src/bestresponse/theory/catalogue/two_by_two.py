"""The classic games of two players with two actions each."""

from __future__ import annotations

from bestresponse.theory.catalogue.game_entry import Entry, bimatrix, symmetric

__all__ = ["TWO_BY_TWO"]

TWO_BY_TWO = (
    Entry(
        "asymmetric-matching-pennies",
        "Matching pennies in which one of the row player's wins pays four times as much; the mixed equilibrium makes "
        "only the column player react to that.",
        "Goeree & Holt, 'Ten little treasures of game theory and ten intuitive contradictions', American Economic "
        "Review 91, 2001",
        bimatrix([[320, 40], [40, 80]], [[40, 80], [80, 40]], "top bottom", "left right"),
    ),
    Entry(
        "aumann-chicken",
        "Chicken with the payoffs for which a correlated equilibrium is better for both than any mixture of Nash "
        "equilibria.",
        "Aumann, 'Correlated equilibrium as an expression of Bayesian rationality', Econometrica 55, 1987",
        symmetric([[6, 2], [7, 0]], "yield dare"),
    ),
    Entry(
        "battle-of-the-sexes",
        "Two people want to spend the evening together, but each prefers a different event.",
        "Luce & Raiffa, 'Games and Decisions', Wiley, 1957, section 5.3",
        bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]], "opera football", "opera football"),
    ),
    Entry(
        "bismarck-sea",
        "A convoy sails north or south of an island and reconnaissance searches one side; payoffs are days of bombing.",
        "Haywood, 'Military decision and game theory', Operations Research 2, 1954",
        bimatrix([[2, 2], [1, 3]], [[-2, -2], [-1, -3]], "north south", "north south", "searcher convoy"),
    ),
    Entry(
        "chicken",
        "Two drivers race towards each other; who swerves loses face, and if nobody does both crash.",
        "Rapoport & Chammah, 'The game of chicken', American Behavioral Scientist 10, 1966",
        symmetric([[0, -1], [1, -10]], "swerve straight"),
    ),
    Entry(
        "coordination",
        "Both win if they choose the same and it does not matter what.",
        "Schelling, 'The Strategy of Conflict', Harvard University Press, 1960",
        symmetric([[1, 0], [0, 1]], "left right"),
    ),
    Entry(
        "deadlock",
        "Defection is dominant and mutual defection is better for both than mutual cooperation.",
        "Oye, 'Explaining cooperation under anarchy: hypotheses and strategies', World Politics 38, 1985",
        symmetric([[1, 0], [3, 2]], "cooperate defect"),
    ),
    Entry(
        "harmony",
        "Cooperation is dominant and best for both: there is no dilemma.",
        "Robinson & Goforth, 'The Topology of the 2x2 Games', Routledge, 2005",
        symmetric([[4, 3], [2, 1]], "cooperate defect"),
    ),
    Entry(
        "hawk-dove",
        "Two animals contest a resource worth 2; a fight costs the loser 4. Hawks escalate, doves display.",
        "Maynard Smith & Price, 'The logic of animal conflict', Nature 246, 1973",
        symmetric([[-1, 2], [0, 1]], "hawk dove"),
    ),
    Entry(
        "hi-lo",
        "Coordination with one better and one worse way to coordinate.",
        "Bacharach, 'Beyond Individual Choice', Princeton University Press, 2006",
        symmetric([[2, 0], [0, 1]], "high low"),
    ),
    Entry(
        "inspection",
        "An inspector would rather not inspect, an inspectee would violate if that went unnoticed.",
        "Turocy & von Stengel, 'Game theory', CDAM Research Report LSE-CDAM-2001-09, 2001",
        bimatrix([[-1, -6], [0, -10]], [[0, -90], [0, 10]], "inspect trust", "comply violate", "inspector inspectee"),
    ),
    Entry(
        "matching-pennies",
        "Both show a side of a coin; the row player wins if the sides match, the column player if they do not.",
        "von Neumann & Morgenstern, 'Theory of Games and Economic Behavior', Princeton University Press, 1944",
        bimatrix([[1, -1], [-1, 1]], [[-1, 1], [1, -1]], "heads tails", "heads tails"),
    ),
    Entry(
        "penalty-kicks",
        "A kicker and a goalkeeper choose the kicker's natural side or the opposite one; payoffs are the percentages "
        "of penalties scored and missed in 1,417 kicks.",
        "Palacios-Huerta, 'Professionals play minimax', Review of Economic Studies 70, 2003",
        bimatrix(
            [[58.30, 94.97], [92.91, 69.92]],
            [[41.70, 5.03], [7.09, 30.08]],
            "left right",
            "left right",
            "kicker goalkeeper",
        ),
    ),
    Entry(
        "prisoners-dilemma",
        "Defection is dominant, yet mutual cooperation is better for both than mutual defection.",
        "Tucker, 'A two-person dilemma', Stanford University, 1950; payoffs of Axelrod, 'The Evolution of "
        "Cooperation', Basic Books, 1984",
        symmetric([[3, 0], [5, 1]], "cooperate defect"),
    ),
    Entry(
        "snowdrift",
        "Two drivers are stuck; a cleared road is worth 4 to each, clearing it costs 3 alone or 1.5 each.",
        "Hauert & Doebeli, 'Spatial structure often inhibits the evolution of cooperation in the snowdrift game', "
        "Nature 428, 2004",
        symmetric([[2.5, 1], [4, 0]], "shovel wait"),
    ),
    Entry(
        "stag-hunt",
        "A stag needs both hunters; a hare can be caught alone, at any time, and is worth a little less.",
        "Rousseau, 'Discours sur l'origine de l'inégalité', 1755; Skyrms, 'The Stag Hunt and the Evolution of Social "
        "Structure', Cambridge University Press, 2004",
        symmetric([[4, 0], [3, 3]], "stag hare"),
    ),
)
