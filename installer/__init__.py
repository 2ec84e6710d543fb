"""What quickstart, run-tests and install.sh call: packages, server environments, builds, servers.

Python's standard library only; runs on a bare Debian 12 or 13.
"""
