"""Commands of the study of ratings. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness study chiang-lee (harness.studies.chiang_lee.commands:compare_ratings): compare samples of a judge's
        ratings with people's, by text and by system (Chiang & Lee 2023)
    --data DIR (Path required): a data folder with recorded scores and people's labels
    --judge NAME ...: only this judge; repeatable
    --variant NAME ...: only this variant; repeatable
    --metric NAME ...: only this metric; repeatable
    @card
    --seed N (seed default=0): seed for the resamples of intervals (default: 0)
    @json

harness study alter-texts (harness.studies.chiang_lee.commands:write_texts): make altered texts from the control
        items, for the task rate_altered_text
    --langs, --lang TAGS (names): languages, separated by commas (default: all that have items)
    --perturb NAME:DOSE ...: a change; repeatable (default: typos:0.1 and shuffle-words:0.5); each text stands unchanged too
    --limit N (positive_integer): only the first N texts of each language
    --seed N (seed default=0): seed of the changes (default: 0)
    --out DIR (Path required): the data folder to write; it must not exist
    @content
"""
