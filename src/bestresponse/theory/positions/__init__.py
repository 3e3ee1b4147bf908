"""Games of perfect information as graphs: every position once, whatever plays lead to it.

    graph       explore a game: all its positions as flat arrays
    solve       values, what every move loses, ties that matter, a certificate of one step
    kernels     the loop that improves values in cycles, compiled
    keys        whether equal keys of positions mean equal futures

A tree repeats what follows a position for every play that leads there. Tic-tac-toe has 549,946
nodes and 4,522 positions, and Pig has no finite tree at all.
"""
