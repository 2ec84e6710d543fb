"""install.sh: its command line, and which of the two kinds of installation is asked for."""
