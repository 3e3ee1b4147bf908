"""Check a program before any engine sees it."""
