"""The code behind quickstart, run-tests and install.sh: packages, server environments, builds, servers.

Uses only Python's standard library; runs on a bare Debian 12 or 13.
"""
