"""The language of the command line: which one (`language`), the translation (`translate`, `zh.po`), the parser's texts (`parser`)."""
