"""Draw, load and rephrase the games of a benchmark run."""
