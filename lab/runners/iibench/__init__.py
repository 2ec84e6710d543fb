"""iibench_runner.sh: the insert benchmark on several engines, with sizes and settings that vary."""
