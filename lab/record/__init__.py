"""Measurements as data: runs, their provenance, their comparison."""
