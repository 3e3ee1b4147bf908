"""The command `bestresponse verify`."""
