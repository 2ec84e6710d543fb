"""Random SQL on TidesDB and InnoDB, side by side in one server: see README.md."""
