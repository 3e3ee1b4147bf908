"""Reports: statistics, tables, figures and one self-contained page. Nothing here calls a model.

stats                       intervals, comparisons, stopping rules
document                    a report as data, with its JSON form and its cells as text
page                        a document as one self-contained HTML page
figures                     SVG figures readable on light and dark ground
tables                      rows as CSV, JSON and Parquet, safe to open in a spreadsheet
frames                      tables of typed rows, and the figures of a study as data
numbers                     numbers as text, rounding noise as 0
files                       result files written as a whole, never through a link
"""
