"""seed_studies.sh: each seed's study again, scaled to this machine, beside the seed's own figures."""
