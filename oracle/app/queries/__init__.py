"""Attend to the questions that seats put to memory."""
