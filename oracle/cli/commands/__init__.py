"""The commands of `oracle`, one module a word; each has its parser as `app`."""
