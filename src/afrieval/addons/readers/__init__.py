"""Readers of results of inspect_ai and lighteval, and of records of Every Eval Ever."""
