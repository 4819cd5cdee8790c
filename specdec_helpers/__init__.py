"""Helpers for the course on speculative decoding."""
