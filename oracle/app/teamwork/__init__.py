"""The work of a team around its handoffs: workflow, rehearsal, integration, peers."""
