"""Strategies written as rules or in words."""
