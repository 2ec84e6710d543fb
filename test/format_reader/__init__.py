"""Reads TidesDB's files from the pages in docs/format alone: it shares no code with the engine."""
