"""The stories with true tables, as TOML files."""

__all__: list[str] = []
