"""Reasoning checked by logic: published runs, a feedback study, and human evaluation."""
