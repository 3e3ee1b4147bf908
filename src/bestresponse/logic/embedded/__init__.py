"""The logic engine that runs inside Python."""
