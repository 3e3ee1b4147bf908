"""Sphinx configuration: existing Markdown pages, executed tutorials, and pages generated from the
package itself."""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))

from gallery import write_gallery  # noqa: E402
from reference import write_reference  # noqa: E402

project = "bestresponse"
author = "The bestresponse authors"
copyright = author
release = version = metadata.version("bestresponse")

extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["_build", "_site", "jupyter_execute", "**.ipynb_checkpoints"]
html_theme = "furo"
html_title = "bestresponse"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_in_temp = True
nb_merge_streams = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
python_use_unqualified_type_names = True
suppress_warnings = [
    "ref.python"
]  # an annotation whose name two packages export; the page's own package comes first


def setup(app):
    """Write the reference and the gallery before pages are read."""
    write_reference(HERE / "api")
    write_gallery(HERE / "gallery")
