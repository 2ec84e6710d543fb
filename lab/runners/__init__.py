"""The runners, a folder each: the options, the units that are measured, and what is left as a study."""
