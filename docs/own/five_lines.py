"""A judge in five lines: it likes texts of more than ten words. Run it: harness run --judge python:five_lines:score"""


def score(item):
    words = len(str(item["output"]).split())
    return 2 if words > 10 else 1 if words > 3 else 0
