"""Reasoning checked by logic: the published runs, the feedback loop as a study, and human
evaluation."""
