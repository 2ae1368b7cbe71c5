"""What must not be written down or sent: credentials and private matters."""
