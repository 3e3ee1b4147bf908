"""The command `bestresponse serve`."""
