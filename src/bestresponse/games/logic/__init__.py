"""Games defined by logic programs."""
