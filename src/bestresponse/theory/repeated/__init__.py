"""Repeated games of finite automata."""
