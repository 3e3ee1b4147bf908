"""`python -m bestresponse.cli` is the same as `bestresponse`."""

from bestresponse.cli.app import main

main()
