"""Commands that find out which judge may be used for what. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness atlas (atlas:show): what is known of judges by language: which one may be used for what, on people's labels
    action ({build} nargs=?): make the atlas again, from the published sets that are on this machine
    --lang LANGUAGE: only this language, by its tag or its name in any language: ja, Japanese, 日本語
    --judge NAME: only this judge
    --quality NAME: only this quality: harm, language, faithfulness, preference, ...
    --html DIR (Path): write pages: an index, a page for each language and one for each judge
    --url URL: with --html: the address where the pages will be, for pictures in previews of links
    --beside NAME=PAGE ... (default=): with --html: link to a page beside them; repeatable
    --to FILE (Path): with build: where to write it, and .parquet beside it (default: leaderboards/atlas.json)
    @json

harness start (start:start): begin with a spreadsheet: find its texts and scores, import them, and say what to do next
    source FILE (Path): CSV, TSV, XLSX, JSONL or Parquet, with people's scores or with texts alone
    --to DIR (Path): the data folder to write (default: the file's name without its ending)
    --yes: take the guesses that are shown
    --plan FILE.toml (Path): only write the mapping, to be corrected and passed as --map
    @allow-refused
    @reading
    @columns
    @scores
    @people
    @json

harness run (run:run): ask judges and report how well they agree with the labels
    --spec FILE (Path): a file with flags of this command (TOML); flags given here take precedence
    [what to judge]
    --langs, --lang TAGS (names): languages, separated by commas: ja,cs (default: all that have items)
    --tasks NAMES (names): only these tasks
    --metrics NAMES (names): only these metrics
    --board NAME: the board whose protocol is used, or a collection of boards: people (default: controls)
    --full: all test items (short for --board controls-full)
    --data DIR (Path): judge the items of a data folder, or of a language pack, instead of a board's
    --unlabelled: with --data: also judge items without a label, so that 'harness correct' can extend the labels to them
    --limit N (positive_integer): only the first N items of each language and task
    --study NAME: ask as a study does, with its section in the report: chiang-lee, self-preference, languages (of rubric, item and
        justification, on the same texts); other flags take precedence
    --cascade FILE (Path): ask the judges of this certificate ('harness accept --cascade --to FILE') one after the other, each about what
        those before it left, and write who answers each text; usually with --data DIR --unlabelled
    @content
    [judges]
    --judge NAME ...: openai/<model>[@<label>], local/<model or .gguf>, baseline/<name>, python:<module>:<function>, replay/<file> or a
        panel of them, panel/<file.toml>; repeatable
    --is JUDGE=SYSTEM ... (own_system dest=own_system): for --study self-preference: the system of the data that a judge is (default: the
        one with its name); repeatable
    --tuned NEW=OLD ... (tuned_judge): for --study self-preference: a judge that was tuned, and the judge before; both are the system of the
        latter; repeatable
    @base-url
    @header
    @body
    [how to ask]
    --variant NAME ...: single, joint, detailed, few-shot, score-only, text, persona, ... joined by '+'; repeatable
    --prompt FILE ... (Path): a prompt of your own (TOML) instead of the usual variants; repeatable, to compare prompts; see 'harness new
        prompt'
    --rubric FILE ... (Path): a wording of your own of a metric's rubric (TOML, as in rubrics/), in place of the usual one; repeatable
    --temperature T[,T] (temperatures): sampling temperatures (default: the board's)
    --top-p P[,P] (top_ps): nucleus sampling (default: the endpoint's default)
    --order ORDER (orders default=forward): of the two texts of a pair: forward, swapped, both (default: forward)
    --shown-source SOURCES (shown_sources default=): also ask with the names of the systems in the texts' headings: correct, or swapped in a
        pair; correct,swapped
    --perturb NAME[:DOSE,..] ...: also ask about perturbed texts: shuffle-words:0.1,0.5, truncate, inject, ...; repeatable; see
        docs/studies.md
    --segmenter NAMES (names default=icu): how perturbations split texts into words: icu, whitespace (default: icu)
    --examples DIR (Path): a data folder whose labelled items are the few-shot examples (default: dev items)
    --allow-unreviewed: allow instructions that no native reader has reviewed
    --repeats N (positive_integer): ask each question N times
    --seed N (seed default=0): seed for everything random (default: 0)
    --majority ({drop,median,strict}): how the labels of several annotators become one reference (default: the board's, or drop)
    --reask KINDS (reask default=): ask calls again, up to three times, whose reply was: refused (by the judge), missing, truncated;
        several: missing,truncated
    --fresh: ask every call again, even if it has an answer; the last reply counts, and all are kept
    [speed and limits (they change no number)]
    @engine
    --detach: with --engine batch: submit the batches and do not wait
    @speed
    []
    @out
    --dry-run: show calls, tokens, cost and the beginning of a prompt; --verbose: one prompt of each kind; ask no judge
    @show-texts
    --yes: send the texts of --data, and fetch data of a collection, without asking for consent
    --by-task: also show all verdicts, the numbers of each metric and task, and the sections
    @rows
    @json

harness compare (compare:compare): compare judges with people: a table with scores of both, recorded judgments, runs
    sources SOURCE (nargs=+): a table (CSV, TSV, XLSX, JSON, JSONL, Parquet), or two that an id joins; else a data folder with judgments, a
        run's folder, or the name of a run in --out
    [what to compare]
    --judge NAME ...: only this judge; of a table, a column with a judge's scores; panel/<file.toml> adds a panel of recorded judges
        (docs/own.md), and shows its members too; repeatable
    @restrictions
    @table
    [how to compare]
    --by KEYS (names): keys to group by (default: language,task,metric,judge,variant,temperature); also system, agreement, group, source, or
        any key of the items
    --majority ({drop,median,strict} default=drop): how the labels of several annotators become one reference (default: drop)
    --level ({item,system} default=item): compare items, or means of systems (default: item)
    --standardise ({none,annotator} default=none): annotator: correlations on interval scales use scores less each person's mean, divided by
        their standard deviation (default: none)
    --versus KEY=NAME: add paired differences from one judge, variant, temperature or source: judge=gpt-4o
    --seed N (seed default=0): seed for the bootstrap (default: 0)
    @decisions
    []
    @out
    [output]
    --full: also show the statistics of every cell and all sections, after the verdicts; above 500 cells, all intervals in JSON and CSV
    @rows
    --verdicts: hidden
    --decide ({verdicts,full} default=verdicts): full: also calibration of confidences, and judges compared across languages (default:
        verdicts)
    --distributions: with --full: class shares where annotators agree fully, partly or not at all
    --figure FILE (Path): draw the answer: .svg, .pdf or .png (needs the extra 'figures')
    --figure-kind ({answer,shares} default=answer): shares: class shares of people and judge (default: answer)
    @figures
    (one of)
    @forms
    --html FILE: write one self-contained page
    [output]
    --sections DIR (Path): also write a CSV file for each table of minimal pairs, of the same texts in several languages, and of panels

harness report (run:report): rebuild a run's report from the store, without asking a judge
    run RUN (nargs=?): a run's name, the beginning of one, or its folder (default: the latest run)
    --figures: write the report's figures (SVG, PDF, PNG) to the run's folder (extra 'figures')
    @figures
    --langs, --lang TAGS (names): show only these languages; verdicts stay corrected for all that the run tested
    --majority ({drop,median,strict}): how the labels of several annotators become one reference (default: the run's)
    @decisions
    --by-task: also show all verdicts, the numbers of each metric and task, and the sections
    @rows
    [output]
    (one of)
    @forms
    --html FILE (nargs=? const=): write one self-contained page (default: report.html in the run's folder)
    []
    @out

harness runs (run:runs): list the runs of a results folder
    @out
    @json
"""
