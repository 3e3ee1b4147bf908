"""The trust game with any amounts."""
