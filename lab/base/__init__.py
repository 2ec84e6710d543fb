"""What all of the lab may use: values of command lines, programs that are watched, files that are read."""
