"""Write the files of a finished run: rows, summary, report and costs."""
