"""The runners' charts: PNG (300 dpi) and PDF, one module a runner."""
