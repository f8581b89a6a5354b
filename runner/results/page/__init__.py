"""A report as one page that opens from disk, and the same tables as Markdown, CSV and LaTeX."""
