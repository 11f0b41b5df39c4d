"""Prompt files, vocabularies and their reviews; templates are rendered in a sandbox."""
