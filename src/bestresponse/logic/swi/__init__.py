"""The logic engine that runs SWI-Prolog in a confined process."""
