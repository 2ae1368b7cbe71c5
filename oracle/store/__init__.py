"""The disk: one concern a module; what is truth is fsynced, what is derived is replaced."""
