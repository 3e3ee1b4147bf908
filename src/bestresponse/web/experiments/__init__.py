"""Experiments as files: what participants read, play, are asked and are paid."""
