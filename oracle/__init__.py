"""The federated knowledge-base oracle for teams of coding agents."""

__version__ = "0.1.0"
