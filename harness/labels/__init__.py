"""Import and export of labels: files of other tools become a data folder, and a data folder becomes sheets and tables."""

from harness.content.specs import LabelMapping
from harness.labels.export import ExportSummary, export_labels
from harness.labels.importing import ImportOptions, ImportSummary, RefusedRow, import_labels
from harness.labels.mapping import load_mapping
from harness.labels.page_import import PageImportOptions, import_page_results
from harness.labels.sections import Selection

__all__ = [
    "ExportSummary",
    "ImportOptions",
    "ImportSummary",
    "LabelMapping",
    "PageImportOptions",
    "RefusedRow",
    "Selection",
    "export_labels",
    "import_labels",
    "import_page_results",
    "load_mapping",
]
