"""Turn stories into checked game programs."""
