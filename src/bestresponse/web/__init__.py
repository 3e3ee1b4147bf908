"""People at the table: games in a browser, played, watched and judged, on the same asks and records
as everywhere."""
