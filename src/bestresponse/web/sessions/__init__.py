"""Sessions of people, models and strategies at one table."""
