"""Writes a study of any runner as one HTML page, as Markdown and as charts."""
