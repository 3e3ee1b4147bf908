"""Colonel Blotto."""
