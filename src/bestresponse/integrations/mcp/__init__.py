"""An MCP server (extra `mcp`): tools that solve, check, verify and compare games.

Every call is carried out in a process of its own kind (`worker`), which is killed when its time is over; logic programs
pass the gate and run in a confined engine as everywhere else.
"""
