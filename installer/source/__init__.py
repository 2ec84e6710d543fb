"""install.sh --mariadb-version: a whole server built from source, with the engine in it, in a prefix of its own."""
