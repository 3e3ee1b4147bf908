"""Any game as a study: its seats filled by anybody, played many times, measured against what theory
says of it."""
