"""Recorded play of models and people.

It is read from any file, checked, and described by strategies and parameters.
"""
