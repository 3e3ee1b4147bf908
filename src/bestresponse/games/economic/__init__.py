"""Public goods, auctions, trust, ultimatum, guessing and other games of experimental economics."""
