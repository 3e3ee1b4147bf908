"""Known games told as other stories."""
