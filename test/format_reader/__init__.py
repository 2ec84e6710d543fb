"""Reads TidesDB's files by the pages in docs/format alone: it shares nothing with the engine."""
