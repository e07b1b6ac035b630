"""A judge as a function: an answer with more sentences is more helpful. It stands in the place of a language model, and asks nobody."""


def score(item):
    return item["odpoved"].count(".")
