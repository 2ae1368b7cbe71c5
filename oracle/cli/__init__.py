"""The people's command `oracle`: words in, tables, plain lines or JSON out. It calls the façade and decides nothing itself."""
