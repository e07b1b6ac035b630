"""Uses of a judge's scores with labels beside them: corrected means, accepted scores, certificates, samples, labels needed."""
