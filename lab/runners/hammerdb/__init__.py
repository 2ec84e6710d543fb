"""hammerdb_runner.sh: TPROC-C on engines in turn, by the built-in generator or by the real HammerDB."""
