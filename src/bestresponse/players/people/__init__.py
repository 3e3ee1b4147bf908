"""People in a seat."""
