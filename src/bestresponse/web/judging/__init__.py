"""Rate transcripts under a rubric."""
