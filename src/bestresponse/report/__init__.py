"""Reports: statistics, tables, figures and one self-contained page. Nothing here calls a model.

statistics · agreement      intervals, comparisons, stopping rules; agreement of raters
document                    a report as data, with its JSON form
page                        a document as one self-contained HTML page
figures                     SVG figures readable on light and dark ground
tables                      rows as CSV, JSON and Parquet, safe to open in a spreadsheet
metrics                     figures of a study as data: table, JSON and CSV from one list
cells · numbers             cells and numbers as text, rounding noise as 0
files                       result files written as a whole, never through a link
"""
