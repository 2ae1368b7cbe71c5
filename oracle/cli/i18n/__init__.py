"""The language of the command line: its catalogues, and how a sentence is translated (`translate`)."""
