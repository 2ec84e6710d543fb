"""What install.sh does: puts the engine into an installed MariaDB, and takes it out again."""
