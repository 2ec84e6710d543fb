"""The basis of every runner: a journal, progress, steps that run once, an orderly end."""
