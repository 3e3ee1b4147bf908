"""How fast the games are inside other tools.

    python benchmarks/integrations.py [--calls 100] [--steps 20000] [--runs 5]

MCP: the tool `solve` on a 3x3 zero-sum game over stdio, by the client of the SDK; milliseconds a
call after the first. PettingZoo: the parallel environment of rock-paper-scissors; steps a second by
the clock and of processor time. The load of the machine before each run stands beside its figures.
A tool that is not installed is left out and said.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles

from bestresponse.core.extras import install_hint

GAME = "[[1, -2, 0], [-1, 3, -2], [0, -1, 2]]"


async def time_calls(number: int) -> list[float]:
    """Return the milliseconds of each call of `solve` after the first."""
    from mcp import Client, StdioServerParameters, stdio_client

    command = str(Path(sys.executable).parent / "bestresponse")
    server = StdioServerParameters(command=command, args=["mcp"], env=dict(os.environ))
    taken = []
    async with Client(stdio_client(server)) as client:
        for _ in range(number + 1):
            began = time.perf_counter()
            solved = await client.call_tool("solve", {"game": GAME})
            taken.append(1000 * (time.perf_counter() - began))
            assert solved.structured_content["equilibria"]
    return taken[1:]


def time_steps(number: int) -> tuple[float, float]:
    """Return steps a second by the clock, and a second of processor time."""
    from bestresponse.integrations.pettingzoo.environments import parallel_env

    game = parallel_env("rock-paper-scissors", rounds=number)
    game.reset(seed=0)
    row, col = game.agents
    wall, cpu = time.perf_counter(), time.process_time()
    for step in range(number):
        game.step({row: step % 3, col: step % 2})
    return number / (time.perf_counter() - wall), number / (time.process_time() - cpu)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for package in ("mcp", "pettingzoo"):
        if find_spec(package) is None:
            print(f"{package} is not installed: {install_hint(package)}")
            continue
        for _ in range(options.runs):
            load = os.getloadavg()[0]
            if package == "mcp":
                taken = asyncio.run(time_calls(options.calls))
                p90 = quantiles(taken, n=10)[-1]
                print(
                    f"MCP solve: median {median(taken):.1f} ms, 90 % within {p90:.1f}, best"
                    f" {min(taken):.1f}",
                    end="",
                )
            else:
                wall, cpu = time_steps(options.steps)
                print(
                    f"PettingZoo: {wall:,.0f} steps/s, {cpu:,.0f} a second of processor time",
                    end="",
                )
            print(f"   (load {load:.1f})", flush=True)


if __name__ == "__main__":
    main()
