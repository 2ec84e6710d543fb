"""install.sh: its command line, and the choice between the two kinds of installation."""
