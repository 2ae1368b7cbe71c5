"""The words of the oracle as pure values and functions: no disk, no clock, no process."""
