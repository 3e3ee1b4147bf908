"""What the web app does, as functions that pages and the interface for programs both call."""
