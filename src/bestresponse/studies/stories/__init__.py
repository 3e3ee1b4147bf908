"""How well models turn stories into games: any model on the project's own stories."""
