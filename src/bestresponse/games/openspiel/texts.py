"""The rules of games of OpenSpiel in our words, by its names; in braces stand its parameters."""

SPIEL_RULES = {
    "tic_tac_toe": (
        "Two players take turns on a board of three rows and three columns. Player 1 puts an x "
        "on an empty cell, player 2 an o. A move names its cell by row and column; both are "
        "numbered from 0, rows from the top, columns from the left. Whoever first has three of "
        "their own marks in one row, column or diagonal wins and gets 1; the other player gets "
        "-1. If the board is full before that, both get 0."
    ),
    "nim": (
        "There are piles of {pile_sizes} objects, numbered from 1. Two players take turns. At "
        "your turn you take any number of objects, at least one, from one pile. Whoever takes "
        "the last object {last}. The winner gets 1, the loser -1. A position lists what is left "
        "in each pile; the number in brackets is 0 if it is player 1's turn and 1 if it is "
        "player 2's."
    ),
    "connect_four": (
        "A board stands upright and has {columns} columns of {rows} cells. Two players take "
        "turns, player 1 with discs x, player 2 with discs o. At your turn you drop a disc into "
        "a column that is not full; it falls to the lowest empty cell. A move names the column "
        "by its number, from 0 at the left. Whoever first has {x_in_row} discs in an unbroken "
        "line, upwards, across or diagonally, wins and gets 1; the other player gets -1. If the "
        "board is full before that, both get 0."
    ),
    "breakthrough": (
        "A board has {rows} rows and {columns} columns. Player 1's pawns are b, begin at the "
        "top and move down; player 2's pawns are w, begin at the bottom and move up. Player 1 "
        "begins, and the players take turns. At your turn you move one pawn by one row, "
        "straight or diagonally. It moves to an empty cell, or diagonally onto a pawn of the "
        "other player, which is taken. Columns are named by letters, rows by numbers; a3b2 "
        "moves from a3 to b2, and a3b2* takes a pawn there. Whoever reaches the row farthest "
        "from their own side, or takes all pawns of the other player, wins and gets 1; the "
        "other player gets -1."
    ),
    "pig": (
        "Two players collect points; whoever first has {winscore} wins and gets 1, the other "
        "player gets -1. At your turn you roll a die with {diceoutcomes} sides as often as you "
        "like. A roll of 1 loses all points of this turn, and the turn passes. Any other roll "
        "is added to the points of this turn. If you stop, the points of this turn are yours "
        "for good, and the turn passes. A play of {horizon} rolls and decisions is stopped, and "
        "both get 0. In a position, player 1's score stands first."
    ),
    "hex": (
        "Two players take turns on a board of {num_rows} rows and {num_cols} columns of six- "
        "sided cells, each row shifted to the right by half a cell below the one before. Player "
        "1 puts an x on an empty cell, player 2 an o. Columns are named by letters from the "
        "left, rows by numbers from the top. Player 1 wins with a connected chain of x from the "
        "top row to the bottom row, player 2 with one of o from the left column to the right "
        "column. The winner gets 1, the loser -1."
    ),
    "clobber": (
        "A board has {rows} rows and {columns} columns, full of pieces at the beginning. Player "
        "1's pieces are o, player 2's x. Player 1 begins, and the players take turns. At your "
        "turn you move one of your pieces onto a piece of the other player on the next cell of "
        "the same row or column, and take it. Columns are named by letters, rows by numbers; "
        "a1a2 moves from a1 to a2. Whoever cannot move loses and gets -1; the other player gets "
        "1."
    ),
    "liars_dice": (
        "Each of two players rolls one die with {dice_sides} sides and keeps it secret. In turn "
        "each player makes a bid N-F: at least N of the two dice show F, where a {dice_sides} "
        "counts as any number. A bid must be higher than the last one: a larger N, or an equal N "
        "and a larger F. Instead of a bid you may say Liar. Then the dice are shown: if the last "
        "bid is true, whoever made it wins, and otherwise whoever doubted it. The winner gets 1, "
        "the loser -1. You see your die, and behind it the bids so far."
    ),
    "first_sealed_auction": (
        "One object is sold. Each of two bidders has drawn a private value for it, a whole number "
        "from 1 to {max_value}, each equally likely, and knows only the own value. Each makes one "
        "sealed bid, a whole number that is smaller than the own value. Whoever bids most gets "
        "the object and pays the own bid; among equal bids a coin decides. The payoff of whoever "
        "gets the object is the own value minus the own bid; the other gets 0. You see your "
        "number as a bidder, from p0, and your value."
    ),
}
