"""Write what a benchmark run found as a document."""
