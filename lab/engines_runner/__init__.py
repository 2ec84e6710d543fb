"""mariadb_engines_runner.sh: TPROC-C on several engines, several times each, with medians and ranges."""
