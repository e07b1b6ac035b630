"""Commands for people's labels and published data. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness labels: import, export and check label sets, and plan how many labels are needed

harness labels import (labels:import_): convert a table, a filled sheet or an export of an annotation tool to a data folder
    source SOURCE (nargs=+): CSV, TSV, XLSX, JSONL, Parquet, a Label Studio or Argilla export, a saved data set, hf:owner/name, or result
        files of pages
    --to DIR (Path): the data folder to write (of result files: default the data of their pages)
    --append: add to a folder that already has labels
    --second-round: further scores of labelled items, by another person or the same one: they show how far people agree, and are no
        reference
    --unlabelled: the table has texts and no scores: for a judge, or to be labelled later
    @allow-refused
    @reading
    [how to read it]
    --items FILE|DIR|bundled: where the items are (default: in the source)
    @columns
    @scores
    [result files of labelling pages]
    --pages FOLDER (Path): the folder of the pages (default: beside or above the files)
    --edited: read files that were changed after the page saved them
    --one-person: one person answered a page on two devices; what was saved last counts
    @people
    []
    @json

harness labels export (labels:export): write labels as a table, or items as a sheet or a project for people to score
    data DATA: a data folder, or 'bundled'
    --to FILE (Path required): the file: .csv, .jsonl, .parquet, .json (Label Studio), .xlsx (sheet)
    --format ({csv,jsonl,parquet,label-studio,sheet}): the format, if the file's name does not show it
    --langs, --lang TAGS (names): only these languages
    --task NAMES (names): only these tasks
    --metrics NAMES (names): only these metrics, in this order
    --fields NAMES (names): the texts that a sheet shows, for items of a task that tasks/ does not describe
    --seed N (seed default=0): seed for the order of outputs that share a text (default: 0)
    --annotator NAME: the annotator's name in the sheet
    @content
    @json

harness labels check (compare:check_labels): show how well annotators agree, and which labels and texts look wrong
    data DATA (Path): a data folder
    --by KEYS (names): keys to group by (default: language,task,metric)
    --majority ({drop,median,strict} default=drop): how the labels of several annotators become one reference (default: drop)
    @restrictions
    --seed N (seed default=0): seed for the bootstrap (default: 0)
    @json

harness labels needed (labels:needed): show how many more texts have to be labelled, for an interval and for a verdict
    source DIR_OR_RUN (nargs=?): a data folder with judgments, a run's folder, or the name of a run in --out; with --judge-as-good: labels,
        or nothing
    --half-width SHARE (float default=0.05): the wanted half-width of the interval of agreement (default: 0.05)
    --borrow ({languages}): add how many labels a new language needs for a corrected mean, if the labelled languages help it
    --judge NAME ...: only this judge; repeatable
    [before any run]
    --judge-as-good: no judge was asked yet: plan for one that is as good as people
    --metric NAME ... (default=): what will be labelled; repeatable with a data folder
    --people-agree SHARE (share): on how many texts two people agree (default: as in the labels)
    --shares A,B,... (shares default=): how often people give each class, in order (default: as in the labels)
    --people N (positive_integer): people who label each text (default: as in the labels, or 2)
    --cells N (positive_integer): metrics times languages that are tested together (default: those of the labels)
    []
    @restrictions
    @decisions
    @out
    @json

harness labels plan (labelling:plan): draw the texts to label next, by a judge's scores, with the probability of each
    source DIR_OR_RUN: a data folder, a run's folder, or the name of a run in --out
    --to FILE (Path required): the list of items to write (.jsonl), for 'labels page --items'
    --budget N (positive_integer): how many texts (default: what 'labels needed' says is missing)
    --lang TAG: the language of the texts (default: the only one)
    --judge NAME: whose scores make the strata (default: the only judge)
    --metric NAME: on which metric (default: the only one)
    --allocation ({proportional,neyman} default=proportional): neyman: more texts where the judge is less certain; loses where its certainty
        says nothing (default: proportional)
    --least N (positive_integer): fewest texts of a stratum (default: 2)
    --least-per-class N (positive_integer): fewest texts of each class of the judge's scores, for rare classes
    --seed N (seed default=0): seed of the draw (default: 0)
    @card
    @out
    @json

harness labels reviews (labelling:reviews): show how far people agree with a judge's reasons, after 'labels page --review'
    data DIR (Path): the data folder with the imported answers
    --seed N (seed default=0): seed for the bootstrap (default: 0)
    (one of)
    @json
    --html FILE: write one self-contained page, with what people said
    []
    @content

harness labels page (labelling:page): write pages on which people label in their browser, one self-contained file each
    data DATA: a data folder, a table of texts, or 'bundled'
    [what is labelled]
    --lang TAG: the language of the items (default: the only one)
    --task NAMES (names): only these tasks
    --metrics NAMES (names): only these metrics, in this order
    --items FILE (Path): only these items: the file of 'labels plan', or one id a line (.txt)
    --next N (positive_integer): only the next N items without a native label, or with --review without a review, in the order of --items or
        the data
    --second: only items that one person has labelled, so that a second one scores them; different groups first
    --fields NAMES (names): the texts that the page shows, for items of a task that tasks/ does not describe
    --text NAMES (names dest=fields): the same, in the words of 'labels import': columns of a table
    --mark-errors: errors are marked in the texts, each minor or major
    --pack NAME: of 'bundled': the packs of this name, such as models or hard, not the languages' own
    --blind-pairs: minimal pairs: readers who do not know which text is flawed say which is better, and mark where the flaw is
    [people's answer to a judge's reasons, instead of scores]
    --review RUN: ask whether people agree with the scores and reasons of a judge in this run (a run's folder, or its name in 'results')
    --judge NAME: the judge (default: the only one of the run)
    [who labels]
    --annotators N|CODES (annotators): how many annotators, or their codes, e.g. hana,taro (default: 3; of blind pairs 5)
    --overlap SHARE (share default=1.0): share of the texts that everybody labels; the rest is divided (default: 1)
    --practice N (int default=3): development items with an explained answer first (default: 3)
    --checks N (int default=0): damaged texts among the others of each annotator (default: 0)
    --about FILE (Path): text of the first screen: who asks, what is kept, what to expect, consent
    --seed N (seed default=0): seed for the shares and the orders (default: 0)
    []
    @content
    --out FOLDER (Path required): the folder for the pages and their record
    --replace: replace the pages in the folder; answers on the old ones are then refused
    @json

harness labels serve (labelling:serve): serve labelling pages to people in one room, and keep their answers as they come
    folder FOLDER (Path): the folder that 'labels page' wrote
    --port N (port default=8765): the port; 0: any that is free (default: 8765)
    --host ADDRESS: the address to listen on, e.g. 0.0.0.0 for all of this machine's (default: this machine only)

harness data: list, fetch, check and remove published data with people's labels

harness data list (data:show_list): list published data: languages, texts, annotators, judges, licence, and whether they are here
    --langs, --lang TAGS (names): only data in these languages: ja,cs
    @content
    @json

harness data get (data:get): fetch published data from their authors, check and convert them
    names NAME (nargs=*): what to fetch; see 'harness data list'
    --langs, --lang TAGS (names): all data in these languages: ja,cs
    --all: all data that can be fetched
    --yes: accept the licences without being asked
    --partial: convert what there is where the origin lacks files
    @home
    @content

harness data check (data:check): read fetched data again and hold them against the hashes of their card
    names NAME (nargs=*): what to check (default: all that are here)
    @home
    @content
    @json

harness data remove (data:remove): remove fetched data and their raw files
    names NAME (nargs=+): what to remove
    @home
    @content

harness data path (data:path): print the folder of fetched data
    name NAME: whose folder
    @home
    @content
"""
