"""The 11-20 money request game, with its words in two languages."""
