"""Store a run in a folder: manifest, append-only files, one writer, merging of parts."""
