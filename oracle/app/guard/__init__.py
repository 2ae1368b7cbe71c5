"""What may not be written or sent: redaction and the privacy rules of the owner."""
