"""The embedded engine in a process of its own: a warm fork server whose children read, check and
run one program."""
