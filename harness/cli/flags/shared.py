"""Flags of several commands: a listing has `@json` where it has the line of that name, or the lines below it."""

LINES = r"""
@engine --engine ({local,batch,ray} default=local): local: ask from this machine (default); batch: the provider's batches, within a day at
        half the price; ray: a Ray cluster
@length --with ({length} dest=covariate): let the map of ordered classes read the text's length too
@board-data --data DIR (Path): the data, for a board that judges a data folder
@recipients --recipient age1… ... (required): a public age key that may decrypt the labels; repeatable
@key --key FILE (Path required): an age key that decrypts the labels, as written by age-keygen
@home --to DIR (Path): the folder for data folders (default: in the user's folder for data)
@allow-refused --allow-refused: import the other rows where some are refused (default: then nothing is written); refused.jsonl holds the
        refused rows
@show-texts --show-texts: with --dry-run: also show texts that their dataset card calls offensive
@prices --prices FILE (Path): your own prices (TOML); they take precedence over list prices
@card --card NAME: dataset card of the published data in the folder; see 'harness data list'
@base-url --base-url [JUDGE=]URL ... (base_url): the OpenAI-compatible endpoint of all openai/ judges, or of one; repeatable
@header --header [JUDGE=]NAME=VALUE ... (header dest=headers): a further header of each request, for a gateway; only its name is recorded,
        its value never; repeatable
@recorded-header --header [JUDGE=]NAME=VALUE ... (header dest=headers): a header that the judge was asked with, as its value is not
        recorded; repeatable
@body --body [JUDGE=]NAME=VALUE ... (body_field dest=body): a further field of each request, such as reasoning_effort=low, or a value in
        JSON; it is part of the judge's identity; repeatable
@content --content DIR ... (Path default=): another folder with tasks/, languages/, rubrics/; a folder with content.lock (a checkout)
        replaces the bundled content
@out --out DIR (Path default=results): results folder (default: results/)
@json --json: print JSON for programs, unrounded

@decisions
    [thresholds of the verdicts (docs/decisions.md)]
    --margin N (float dest=decide_margin): a judge may agree with people this much less than they agree with each other (default: 0.1)
    --alpha N (float dest=decide_alpha): the chance of a false 'use' among all cells of a family (default: 0.05)
    --correction ({holm,by} dest=decide_correction): how p-values of many cells are corrected (default: holm)
    --family ({judge,all} dest=decide_family): correct over the cells of one judge and condition, or of all (default: judge)
    --agreement ({exact,distance} dest=decide_agreement): classes agree if equal, or the more the closer they are (default: exact)
    --min-items N (int dest=decide_items): fewer texts with two annotators are too few (default: 30)
    --min-groups N (int dest=decide_groups): fewer independent texts are too few (default: 20)
    --effective-groups N (float dest=decide_effective_groups): large groups are capped until all stand for so many equal ones (default: 15)
    --min-coverage N (float dest=decide_coverage): 'use' needs a readable score for this share of texts (default: 0.95)
    --least-coverage N (float dest=decide_least_coverage): below this share a judge fails too often (default: 0.8)
    --min-gain N (float dest=decide_gain): 'use corrected' needs this many effective labels for each label (default: 1.1)
    --power N (float dest=decide_power): the power of the number of labels that are needed (default: 0.8)
    --epsilon N (float dest=decide_epsilon): the discount of the alternative annotator test (default: the dataset card's, else 0.15)
    --alt-scoring ({accuracy,neg_rmse} dest=decide_alt_scoring): how that test scores on ordered scales: equal classes, or distance
        (default: the dataset card's, else accuracy)

@judged
    source RUN_OR_DIR: a data folder with judgments, a run's folder, or the name of a run in --out
    --judge NAME ...: only this judge; repeatable
    @restrictions
    @out

@restrictions
    --langs, --lang TAGS (names): only items in these languages: ja,cs; nothing else is tested or corrected for
    --annotators N|N+: only items with N (or N or more) annotators
    --where KEY=VALUES ... (default=): only items, metrics or variants with these values; repeatable
    @card

@reading
    [how to read it]
    --from KIND ({csv,tsv,xlsx,sheet,jsonl,json,parquet,hf,label-studio,argilla} dest=kind): the kind of source, if it cannot be detected:
        %(choices)s
    --sheet NAME: the worksheet of a workbook (default: the first that is not empty)
    --encoding NAME: encoding of a CSV file that is neither UTF-8 nor UTF-16 with a byte order mark, e.g. cp1252
    --header-row N (positive_integer): the row of a table that names its columns (default: the first, or the first below a title)
    --revision NAME: commit, tag or branch of hf:owner/name
    --split NAME: which split of a Hugging Face data set
    @content

@table
    [columns of a table (docs/one-table.md)]
    --human COLUMNS (names): columns with people's scores; a judge's columns are named with --judge
    --text COLUMNS (names): columns with texts
    --language COLUMN_OR_TAG: the column that names each text's language, or the language of all
    --id COLUMN: the column of ids; two tables are joined by it
    --group COLUMN: what texts share, such as a document: texts of one group are not independent
    --metric COLUMN_OR_NAME: the column that names what was scored, or the name of it
    --system COLUMN: the column that names whose text it is
    --scale [METRIC=]SCALE ... (default=): the scale, such as 1..5:best=5 or fail,pass:best=pass; repeatable
    --drop COLUMNS (names): columns that do not matter
    --sampling ({random,convenience,unknown}): how the texts were chosen; corrected means need random ones (default: unknown)
    --to DIR (Path): keep the table as a data folder

@columns
    [what its columns mean (--map can hold all of this)]
    --map FILE (Path): a mapping in TOML; flags take precedence
    --column ROLE=COLUMN ... (default=): the role of a column; roles: item_id, annotator_id, metric, score, source, language, task, split,
        group, system, parallel_id
    --text FIELD=COLUMN ... (default=): a column that becomes a text of the items
    --id-from COLUMNS (names): columns whose values together are an item's id; '#' is the number of the row
    --group COLUMN: short for --column group=COLUMN
    --system COLUMN: short for --column system=COLUMN
    --language TAG: the language of all rows
    --task NAME: the task of all rows
    --metric NAME: the metric of all scores
    --annotator NAME: the annotator of all scores
    --annotator-from-file REGEX: the annotator of all scores is in the file's name, e.g. ratings_(.+)\.csv
    --wide-annotators COLUMNS (names): columns with the scores of one annotator each
    --wide-metrics COLUMNS (names): columns with the scores on one metric each
    --human NAMES (names): columns or annotators that are people, though their names look like a judge's
    --wide-items REGEX: columns with the scores of one item each, as forms have: \[(?P<item>[^]]+)\] (?P<metric>.+)

@scores
    [what its scores mean]
    --scale METRIC=SCALE ... (default=): e.g. tone=0,1,2:best=2, stars=1..5:best=5 (classes), warmth=1..5:kind=interval
    --rename OLD=NEW ... (default=): another name for a metric
    --category METRIC:CATEGORY=SCORE ... (default=): the score for a category
    --flip METRIC ... (default=): reverse the scores of a metric on its scale
    --drop METRIC ... (default=): leave a metric out, e.g. a question for comments
    --no-answer TEXTS (names): what cells hold that mean no answer, such as n/a,-,99: they count as empty
    --source ({native,people,constructed,model} dest=label_source): who made the labels (default: native)

@people
    [annotators and folder]
    --annotators ({persistent,positional,anonymous,aggregate}): what an annotator's id means
    --keep-annotators: keep annotators' ids instead of pseudonyms
    --salt-file FILE (Path): the salt of the pseudonyms; created if it does not exist (default: in the user's settings)
    --sampling ({random,convenience,unknown}): how the texts were chosen (default: unknown)
    --id NAME: name of the data (default: the folder's name)
    --title TEXT: title of the data

@speed
    --ray-address ADDRESS: address of the cluster: auto, HOST:PORT, or local to start one (default: auto)
    --ray-actors N (positive_integer): number of actors, with one CPU each (default: one for each node)
    --concurrency [JUDGE=]N ... (integer_per_judge): calls in flight (default: adaptive, grows while latency stays flat); repeatable for
        several judges
    --rpm [JUDGE=]N ... (number_per_judge): at most N requests a minute
    --tpm [JUDGE=]N ... (number_per_judge): at most N tokens a minute
    @retries
    --max-cost DOLLARS (positive_number): stop before the cost exceeds this
    --max-calls N (positive_integer): stop after N calls
    --max-minutes N (positive_number): stop after N minutes
    @prices

@retries
    --attempts N (positive_integer): attempts before a call is given up (default: 8)
    --timeout SECONDS (positive_number): time limit of one attempt (default: 120)

@acceptance
    --majority ({drop,median,strict} default=drop): how the labels of several annotators become one reference (default: drop)
    --alpha-risk, --risk N (share default=0.1): the tolerated share of accepted answers that differ from people's label (default: 0.1)
    --delta N (share default=0.1): the tolerated chance that more of them differ (default: 0.1)
    --confidence ({probability,repeats,votes}): probability: of the answer's token; repeats: the share of the commonest answer; votes: the
        same over several judges, in a cascade over those asked so far (default: probabilities where there are any, else repeats)

@sets
    [what label sets promise]
    --level N (share default=0.9): the share of new texts whose set holds a person's score (default: 0.9)
    --per ({group,text} default=group): group: a random text of a new random group (default); text: a random text, whose sets are larger
    --this-draw N (share): hold the level with this probability for this draw of labels, not on average

@about
    [about the judge, for the tables]
    --title TEXT (default=): the judge's title in tables (default: its name)
    --contact TEXT (default=): whom to ask about the submission; will be published
    --open-weights ({yes,no,unknown} default=unknown): whether its weights are available
    --exposure ({none,possible,trained,unknown} default=unknown): whether the judge may have seen the board's data in training
    --exposure-note TEXT (default=): what is known about the exposure
    --families NAMES (names default=): model families that the judge shares with the systems whose texts it judges

@opened
    @board-data
    --key FILE (Path): an age key for the board's sealed labels; they are decrypted in memory only
    @content

@figures
    --figure-width ({single,double} default=double): one column of 3.5 inches, or both of 7.2
    --figure-names ({english,own} default=english): languages by their English or their own names

@forms
    @json
    --csv: print CSV, unrounded
    --md: print Markdown
    --latex: print a LaTeX table (booktabs, siunitx)

@rows
    --all: show the rows without a verdict too, and what the headings mean
    --signature: print the signature whole, not as a short hash

@asked-again
    @card
    @out
    @base-url
    @recorded-header
    --yes: send the texts of a data folder to the endpoint without asking for consent
    [speed and limits (they change no number)]
    @engine
    @speed

@day
    folder DIR (Path): the folder of the watch
    --date DATE (day): the day, such as 2026-05-31 (default: today, UTC)
"""
