"""The lab's charts as files: PNG with 300 dots an inch, and PDF."""
