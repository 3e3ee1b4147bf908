"""The ultimatum with any amounts."""
