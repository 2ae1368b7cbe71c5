"""The MCP server: memory and handoffs as tools, resources and prompts. The only package that imports `mcp`."""
