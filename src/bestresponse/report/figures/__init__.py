"""Figures of reports as SVG."""
