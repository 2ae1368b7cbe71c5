"""The MCP server: the operations of `Oracle` as tools, resources and prompts for any agent. The only room that imports `mcp`."""
