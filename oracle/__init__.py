"""The federated knowledge-base oracle for teams of coding agents."""

__version__ = "0.2.0"
