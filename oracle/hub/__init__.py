"""The hub of several machines, a PostgreSQL database. `connection` alone imports the client library."""
