"""Domains of dialogue: one file of data and texts each (see `games.dialogue.domain`)."""
