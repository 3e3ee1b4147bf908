"""The embedded engine in a separate process.

A warm fork server has children that read, check and run one program.
"""
