"""Games of this library in other people's tools, each behind an extra of its own name.

mcp          an MCP server: assistants solve, check and compare games by calling tools
pettingzoo   every game with finite answers as a multi-agent environment
inspect      tasks and scorers for Inspect, a scanner for Inspect Scout
"""
