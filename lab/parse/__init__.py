"""What benchmark tools print, read: text in, dataclass out. recorded/ holds real outputs."""
