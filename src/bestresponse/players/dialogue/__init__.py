"""Speakers and referees of dialogues."""
