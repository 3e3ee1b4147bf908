"""Populations that learn: agents with strategies who are matched, compare and revise."""
