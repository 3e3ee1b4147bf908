"""Statistics of reports: intervals, comparisons, stopping rules, agreement of raters."""
