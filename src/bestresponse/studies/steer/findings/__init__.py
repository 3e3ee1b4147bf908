"""Write what a steering run found as a document."""
