"""Commands of `bestresponse simulate`."""
