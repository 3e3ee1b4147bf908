"""Board games by plain recursion over lists, and Pig by value iteration. Shares no code with the
library: boards are dictionaries from (column, row) to a mark, and every play is followed to its end."""

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def has_row(board, mark, length):
    """Whether a mark stands `length` times in a row, in any direction."""
    for column, row in board:
        for right, up in DIRECTIONS:
            cells = [(column + k * right, row + k * up) for k in range(length)]
            if all(board.get(cell) == mark for cell in cells):
                return True
    return False


def value_marks(columns, rows, length, falls):
    """The value to the first player of putting marks until `length` of one's own are in a row, and
    how many positions there are at which somebody chooses. With `falls`, marks fall down."""
    known = {}

    def list_cells(board):
        for column in range(columns):
            free = [(column, row) for row in range(rows) if (column, row) not in board]
            yield from free[:1] if falls else free

    def find(board, mover):
        key = frozenset(board.items())
        if key in known:
            return known[key]
        if has_row(board, 1 - mover, length):
            return 1 if mover == 1 else -1
        cells = list(list_cells(board))
        if not cells:
            return 0
        values = [find({**board, cell: mover}, 1 - mover) for cell in cells]
        known[key] = max(values) if mover == 0 else min(values)
        return known[key]

    return find({}, 0), len(known)


def value_breakthrough(columns, rows):
    """The same for Breakthrough with one row of pawns on each side."""
    known = {}

    def find(white, black, mover):
        """Both sides' pawns as sets; the mover's pawns go up if it is White."""
        if any(row == rows - 1 for _, row in white):
            return 1
        if any(row == 0 for _, row in black):
            return -1
        key = white, black, mover
        if key in known:
            return known[key]
        own, other = (white, black) if mover == 0 else (black, white)
        step = 1 if mover == 0 else -1
        values = []
        for column, row in own:
            for side in (-1, 0, 1):
                to = (column + side, row + step)
                if not 0 <= to[0] < columns or to in own or (side == 0 and to in other):
                    continue
                moved = own - {(column, row)} | {to}
                pair = (moved, other - {to}) if mover == 0 else (other - {to}, moved)
                values.append(find(*pair, 1 - mover))
        if not values:
            return -1 if mover == 0 else 1
        known[key] = max(values) if mover == 0 else min(values)
        return known[key]

    white = frozenset((column, 0) for column in range(columns))
    black = frozenset((column, rows - 1) for column in range(columns))
    return find(white, black, 0), len(known)


def wins_nim(piles, last_wins):
    """Whether the player to move wins Nim, by Bouton's rule (Annals of Mathematics 3, 1901)."""
    total = 0
    for pile in piles:
        total ^= pile
    if last_wins or max(piles) > 1:
        return total != 0
    return total == 0


def value_pig(goal, sweeps=400):
    """What a Pig to `goal` is worth to the first player, by improving chances of winning in place."""
    win = {}
    for mine in range(goal):
        for theirs in range(goal):
            for points in range(goal - mine):
                win[mine, theirs, points] = 0.5
    for _ in range(sweeps):
        for mine, theirs, points in win:
            hold = 1 - win[theirs, mine + points, 0]
            lost = 1 - win[theirs, mine, 0]
            rolls = [
                1.0 if mine + points + eyes >= goal else win[mine, theirs, points + eyes]
                for eyes in range(2, 7)
            ]
            win[mine, theirs, points] = max(hold, (lost + sum(rolls)) / 6)
    return 2 * win[0, 0, 0] - 1
