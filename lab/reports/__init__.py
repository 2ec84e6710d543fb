"""A study of any runner to one HTML page, to Markdown and to charts."""
