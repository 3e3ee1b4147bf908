"""Look at runs and sessions: progress, plays step by step, export."""
