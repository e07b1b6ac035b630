"""Label sets in and out: what people have becomes a data folder, and a data folder what people work with."""

from harness.labels.export import Exported, Selection, export_labels
from harness.labels.importing import Imported, Options, Refused, import_labels
from harness.labels.mapping import LabelMapping, load_mapping

__all__ = [
    "Exported",
    "Imported",
    "LabelMapping",
    "Options",
    "Refused",
    "Selection",
    "export_labels",
    "import_labels",
    "load_mapping",
]
