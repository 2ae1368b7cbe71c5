"""The language in which the command line prints: which one (`language`) and the Chinese of each sentence (`translate`, `zh.po`)."""
