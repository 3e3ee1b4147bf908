"""Any game as a study: anybody plays it many times, and it is measured against theory."""
