"""The language of the command line: its choice (`language`), translation (`translate`, `zh.po`), the parser's texts (`parser`)."""
