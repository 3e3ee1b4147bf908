"""An MCP server (extra `mcp`): tools that solve, check, verify and compare games.

Calls are carried out in a process apart, which is killed when their time is over; logic programs
pass the gate and run in a confined engine as everywhere else.
"""
