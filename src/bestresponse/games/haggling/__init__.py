"""Offers and counter-offers about a price, with a deadline."""
