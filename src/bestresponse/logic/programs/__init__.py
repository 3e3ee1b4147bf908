"""Game programs: the solver language, tables, views, validation."""
