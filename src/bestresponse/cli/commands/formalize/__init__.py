"""The command `bestresponse formalize`."""
