"""Tasks and scorers for Inspect (extra `inspect`) and a scanner for Inspect Scout (`scout`).

They are registered under the name `bestresponse`.
"""
