"""The runners, a folder each: the options, the units to measure, and the resulting study."""
