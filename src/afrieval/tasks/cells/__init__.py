"""Cells: what one task asks in one language with one prompt, built, planned and scored."""
