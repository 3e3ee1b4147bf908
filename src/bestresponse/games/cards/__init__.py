"""Games of bluff with a few cards."""
