"""Commands about runs: run any study, report, replay, merge and reproduce."""
