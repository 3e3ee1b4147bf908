"""Reports: statistics, tables, figures and one self-contained page. Nothing here calls a model.

statistics · agreement      intervals, comparisons, stopping rules; agreement of raters
document                    a report as data, with its JSON form
page                        a document as one self-contained HTML page
figures                     SVG figures readable on light and dark ground
tables                      rows as CSV, JSON and Parquet
"""
