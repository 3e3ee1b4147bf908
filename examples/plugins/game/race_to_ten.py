"""Two players add 1 or 2 in turn to a common sum; whoever reaches ten wins."""

from dataclasses import dataclass

from bestresponse.core import Choice, Decision, Question, View, prose


class RaceToTen:
    """Add 1 or 2 in turn; whoever reaches ten wins."""

    name, version, roles = "race-to-ten", 1, ("player 1", "player 2")

    def start(self):
        return ()

    def asks(self, state):
        return {} if sum(state) >= 10 else {self.roles[len(state) % 2]: Choice(("1", "2"))}

    def view(self, state, role):
        rules = (
            f"You are {role}. You and the other player add 1 or 2 in turn; whoever reaches 10 or"
            " more wins."
        )
        so_far = (
            f"The sum is {sum(state)}, added so far: {', '.join(map(str, state)) or 'nothing'}."
        )
        return View(role, prose(rules), prose(so_far), facts={"sum": sum(state)})

    def apply(self, state, moves):
        return (*state, *(int(move) for move in moves.values()))

    def payoffs(self, state):
        won = self.roles[(len(state) - 1) % 2] if sum(state) >= 10 else None
        return {role: 0.0 if won is None else 1.0 if role == won else -1.0 for role in self.roles}

    # What follows is optional: each method makes the game better known to the library.

    strategy_names = ("multiples",)

    def make_strategy(self, name, role, seed):
        return Multiples() if name == "multiples" else None

    def make_quiz(self, role, rng):
        return (Question("The sum is 8 and you add 2. How much do you get?", 1.0),)


@dataclass(frozen=True)
class Multiples:
    """Bring the sum to 1, 4, 7 and 10, from where the other player cannot win."""

    name: str = "multiples"

    def decide(self, view, ask):
        return Decision("2" if (view.facts["sum"] + 2) % 3 == 1 else "1")
