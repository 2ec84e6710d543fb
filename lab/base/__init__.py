"""Basics for the whole lab: values of command lines, watched programs, file parsing."""
