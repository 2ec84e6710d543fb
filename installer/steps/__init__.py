"""The steps of an installation, for either kind of server; each change is recorded and can be undone."""
