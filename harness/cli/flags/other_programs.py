"""Commands that exchange scores and judges with other programs. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness import (import_scores:import_): convert scores that another program made, judges' and people's, to a data folder
    files FILE (Path nargs=+): files of one kind, such as a batch's output and input
    --to DIR (Path required): the data folder to write or to add to
    --append: add to a folder that already has judgments
    @allow-refused
    [how to read them]
    --from KIND ({SCORE_KINDS} dest=kind): the kind of file, if it
        cannot be detected: %(choices)s
    --preset NAME: field names of score records: mlflow, deepeval, langfuse, langsmith, phoenix, openai-evals, fastchat, table, ...
    --wide-metrics COLUMNS (names): columns of a table with the scores on one metric each
    --filter NAME: lm-eval: the filter whose samples are read
    --label-from FIELD: lm-eval: the field of a document that holds people's label, e.g. doc.label
    --take-values: take the program's own scores, also where the file keeps the judge's raw reply
    @content
    [what was scored, and by whom (--map FILE.toml can hold all of this)]
    --item-from FIELDS: the field that holds the item's id, e.g. vars.item_id; or several that make it, e.g. question_id,model,turn
    --id-pattern REGEX: parts of the id: (?P<item>.+):(?P<metric>.+); also language, judge and repeat
    --language-from FIELD: the field that holds the language, e.g. metadata.language
    --language TAG: the language of all items
    --task NAME: the task of all items (default: imported)
    --metric NAME: the metric of scores that name none
    --judge NAME: the judge's name, if the file has none or another one is wanted
    --text NAME=FIELD ... (default=): a field that becomes a text of the items
    --group FIELD: the field that names what items share
    --system FIELD: the field that names the system that wrote the texts
    --items FILE|DIR|bundled: where the items are (default: in the files, or in --to)
    [what the scores mean; a scale is never guessed]
    --scale METRIC=SCALE ... (default=): e.g. fluency=0,1,2:best=2 or fluency=0..1:best=1
    --map [METRIC:]PAIRS|FILE ... (default=): scores for words, such as C=1,P=0.5,I=0; or a mapping in TOML; flags take precedence
    --rename OLD=NEW ... (default=): another name for a metric
    --drop METRIC ... (default=): leave a metric out
    [people and folder]
    --keep-annotators: keep people's ids instead of pseudonyms
    --salt-file FILE (Path): the salt of the pseudonyms (default: in the user's settings)
    --id NAME: name of the data (default: the folder's name)
    --title TEXT: title of the data
    []
    @json

harness export: write a judge, its scores or a data set in the form of another program

harness export promptfoo-judge (export:promptfoo_judge): write python assertions with which promptfoo asks a judge as 'run' does
    --judge NAME (required): the judge that is asked: openai/<model> or any other that is a model
    --to DIR (Path required): the folder of promptfooconfig.yaml
    [what is asked]
    --metric NAMES (names dest=metrics): metrics with a rubric, an assertion for each
    --task NAME: the task that the texts belong to; needed if several tasks have the metric
    --prompt FILE (Path): a prompt of your own (TOML) instead of metric and task
    --variant NAME (default=single): single, detailed, score-only, ... (default: single)
    --temperature T (single_temperature default=0.0): sampling temperature (default: 0)
    --allow-unreviewed: allow instructions that no native reader has reviewed
    --language TAG|FIELD (default=vars.language): of the outputs, or where it stands (default: vars.language)
    --base-url URL: the endpoint of an openai/ judge (default: from the environment)
    --header NAME=$VARIABLE ... (header dest=headers): a further header of each request, for a gateway, with the environment variable that
        holds its value, which is not written; quote it for the shell; repeatable
    --body NAME=VALUE ... (body_field dest=body): a further field of each request, such as reasoning_effort=low; repeatable
    @content

harness export inspect-scores (export:inspect_scores): write a judge's scores as a file for Inspect's precomputed_scores
    source RUN_OR_DIR: a data folder with judgments, a run's folder, or the name of a run in --out
    --to FILE.jsonl (Path required): the file to write; item ids are Inspect's sample ids
    --judge NAME: the judge, if there are several
    --metric NAME: the metric, if there are several
    --variant NAME: the variant, if there are several
    --temperature T (single_temperature): the temperature, if there are several
    --top-p P (single_top_p): the top-p, if there are several
    @card
    @out

harness export hub (export:hub): write items, labels and judgments as a data set for a hub, with its card; uploads nothing
    source RUN_OR_DIR: a data folder, a run's folder, or the name of a run in --out
    --to DIR (Path required): the folder to write; it must not exist
    --license NAME: the licence of the data set as the hub names it, e.g. cc-by-4.0
    @card
    @out
"""
