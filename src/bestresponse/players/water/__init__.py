"""Bidders of the Water Allocation Challenge."""
