"""Sealed-bid auctions of one object."""
