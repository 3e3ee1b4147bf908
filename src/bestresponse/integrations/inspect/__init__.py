"""Tasks and scorers for Inspect (extra `inspect`), registered under the name `bestresponse`."""
