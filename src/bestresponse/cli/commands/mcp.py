"""`bestresponse mcp`: offer solving, checking and comparing as tools of an MCP server."""

from typing import Annotated

import typer

from bestresponse.core.errors import UsageError
from bestresponse.integrations.mcp.server import CallLimits, build_server

_LOCAL = ("127.0.0.1", "localhost", "::1")


def mcp_command(
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of stdio.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            help="Address of --http; localhost only, because clients are not authenticated."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port of --http.", min=1, max=65535)] = 8643,
    seconds: Annotated[
        float, typer.Option(help="Maximum seconds per call.", min=0.1, max=3600)
    ] = 20.0,
    max_input: Annotated[
        int, typer.Option(help="Maximum characters of the arguments of a call.", min=100)
    ] = 200_000,
    memory: Annotated[
        int, typer.Option(help="Memory limit of the solver, in megabytes.", min=512)
    ] = 4096,
) -> None:
    """Run an MCP server for assistants: solve, check, best_response, formalize_check, verify,
    compare, tournament, position, prolog_load, prolog_ask, prolog_repair.

    No tool opens files, calls models or reaches the network; logic programs run confined.
    """
    if host not in _LOCAL:
        raise UsageError(
            f"--host {host}: expected one of {', '.join(_LOCAL)}; put a proxy with"
            " authentication in front of it"
        )
    server = build_server(CallLimits(seconds, max_input, megabytes=memory))
    if http:
        server.run(
            "streamable-http",
            host=host,
            port=port,
            max_request_body_size=4 * max_input + 10_000,
        )
    else:
        server.run("stdio")
