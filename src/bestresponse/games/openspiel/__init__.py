"""Games of OpenSpiel on OpenSpiel's own states."""
