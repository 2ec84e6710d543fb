"""sysbench's workloads on several engines, by environment variables: sizes, threads, CSVs and charts."""
