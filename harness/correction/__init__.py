"""Uses of a judge's scores with labels beside them: corrected means, accepted scores, certificates, samples, labels needed."""

from harness.correction import cascade_certificate, certificate

__all__ = ["cascade_certificate", "certificate"]
