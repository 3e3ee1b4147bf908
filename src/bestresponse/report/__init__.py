"""Reports: statistics, tables, figures and one self-contained page. Nothing here calls a model.

stats                       intervals, comparisons, stopping rules
document                    a report as data, with its JSON form and its cells as text
page                        a document as one self-contained HTML page
figures                     SVG figures readable on light and dark ground
tables                      rows as CSV, JSON and Parquet, safe to open in a spreadsheet
frames                      tables of typed rows, and the metrics of a study as data
numbers                     numbers as text, rounding noise as 0
files                       result files written as a whole, never through a link

The names below are imported when first used.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.report.blocks import (
        metrics_table as metrics_table,
        table as table,
    )
    from bestresponse.report.document import (
        Code as Code,
        Column as Column,
        Document as Document,
        Figure as Figure,
        KeyValues as KeyValues,
        Note as Note,
        Paragraph as Paragraph,
        Quote as Quote,
        Section as Section,
        Table as Table,
    )
    from bestresponse.report.figures.charts import (
        draw_intervals as draw_intervals,
    )
    from bestresponse.report.figures.pictures import (
        draw as draw,
    )
    from bestresponse.report.frames import (
        Frame as Frame,
        Metric as Metric,
        compute_metrics as compute_metrics,
    )
    from bestresponse.report.numbers import (
        format_number as format_number,
    )
    from bestresponse.report.page import (
        render as render,
    )
    from bestresponse.report.stats.agreement import (
        cohen_kappa as cohen_kappa,
        icc as icc,
    )
    from bestresponse.report.stats.differences import (
        holm as holm,
        paired_difference as paired_difference,
    )
    from bestresponse.report.stats.statistics import (
        Interval as Interval,
        bound_mean as bound_mean,
        cluster_bootstrap as cluster_bootstrap,
        games_needed as games_needed,
        missing_bounds as missing_bounds,
        wilson as wilson,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
