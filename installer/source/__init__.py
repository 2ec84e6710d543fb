"""install.sh --mariadb-version: a whole server built from source, with the engine in it, in its own prefix."""
