"""Compare formalized games with true ones, level by level."""
