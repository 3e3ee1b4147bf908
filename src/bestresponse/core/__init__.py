"""The ground floor: asks, games, players, episodes, records. Standard library only."""
