"""What pipelines and their readers see of a check: the gate of a policy, and a watch, as text and as JUnit XML."""
