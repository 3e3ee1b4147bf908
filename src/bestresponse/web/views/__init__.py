"""What is seen of the web app.

Each module has the pages of a subject, and the calls of the interface for programs.
"""
