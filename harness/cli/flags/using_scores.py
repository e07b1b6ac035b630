"""Commands that use a judge's scores. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness improve (improve:improve): choose the judge or setting that agrees best with people, confirm it on other labels
    @judged
    [candidates that are asked (of a data folder without recorded answers of --judge)]
    --variant NAME ...: a setting beside the plain one (default: about eight); repeatable
    --prompt FILE ... (Path): a prompt of your own (TOML); repeatable
    --rubric FILE ... (Path): a wording of your own of a metric's rubric (TOML); repeatable
    --candidates FILE (Path): the candidates as a file (TOML); see docs/improve.md
    --limit N (positive_integer): only the first N texts of each language and task
    --allow-unreviewed: allow instructions that no native reader has reviewed
    @base-url
    @header
    @content
    --yes: send the texts without asking for consent
    [speed and limits (they change no number)]
    @engine
    @speed
    [how to choose and confirm]
    --start NAME: the judge or setting to beat (default: the plainest of the first judge)
    --share N (share default=0.6): share of independent texts that choose; others confirm (default: 0.6)
    --keep-within N (share default=0.1): a language gets the choice only where it is shown not to lose more agreement than this (default:
        0.1)
    --labels FILE ... (Path): a round of labels of the same texts (labels.jsonl or a data folder), given twice or more: show which candidate
        wins under each, and confirm nothing
    --reuse: confirm on labels that have confirmed before, at a stricter level
    --dry-run: only say how many texts there are, what they can show, and what asking costs
    --majority ({drop,median,strict} default=drop): how the labels of several annotators become one reference (default: drop)
    --seed N (seed default=0): seed of the division (default: 0)
    --to FILE.toml (Path): write the choice as a file for 'harness run --spec'
    @decisions
    []
    @json

harness explain (use:explain): show what a judge's errors follow: the length, language or system of texts
    @judged
    --by KEYS (names): what errors may follow: length, language, system, script, or a key of the items with 40 values at most (default:
        length,language,system, as far as the data have them)
    --all: a row for each effect that is not shown too
    @json

harness correct (use:correct): estimate means, class shares and differences of systems from a judge's scores and some labels
    @judged
    [what to estimate]
    --by KEYS (names): keys of the items to group by, beside language, metric, judge and condition (default: system)
    --shares: the shares of all classes instead of the mean
    --class CLASS (dest=share_of): the share of this class instead of the mean
    --versus KEY=NAME: add the difference of each system from one: system=NAME
    --prevalence-shift: the labels come from elsewhere, where classes are more or less common: correct by the judge's error rates
        (Rogan-Gladen) instead of by the mean error
    --borrow ({languages}): add estimates that shrink towards the judge's error in the other languages: they hold on average over languages
    [output]
    --figure FILE (Path): draw three intervals a system: .svg, .pdf or .png (extra 'figures')
    @json

harness accept (use:accept): find from which confidence on a judge's answers can be accepted without a person
    @judged
    [what to guarantee]
    @acceptance
    --sampling ({random}): take the labelled texts as a random sample though the dataset card does not say so; the promise holds only under
        this condition
    [several judges, a person last]
    --cascade: ask the judges of --judge one after the other, the cheapest first, each about what those before it left; one guarantee for
        all accepted answers
    --price NAME=N ... (priced default=): with --cascade, what this judge's answers to 1,000 texts cost in US dollars; repeatable (default:
        what the run was charged, else by list prices of models)
    @prices
    --order ({price,named}): with --cascade: price, the cheapest first, if all prices are known (default); named, as --judge names them
    --units ({design_effect,one_per_group}): with --cascade, texts that share groups: design_effect, approximate (default); one_per_group,
        exact, accepts fewer
    --to FILE (Path): with --cascade, write the certificate of the chain to this file (JSON), which 'harness run --cascade FILE' follows
    []
    @json

harness calibrate (use:calibrate): learn what people say of a text with a judge's score, by language: scores before and after, and sets with
        a guarantee
    @judged
    [how to learn]
    @length
    --numbers ({linear,isotonic} default=linear): the map of scores that are numbers (default: linear)
    --seed N (seed default=0): of the folds and of the halves (default: 0)
    @sets
    []
    @json

harness certify (use:certify): write a judge's certificate for other programs, check whether one holds, or extend it to other texts
    source RUN_OR_DIR (nargs=?): a data folder with judgments, a run's folder, or the name of a run in --out
    --judge NAME ...: only this judge; repeatable
    @restrictions
    @out
    [what to do]
    --to FILE (Path): write the certificate of one judge to this file (JSON)
    --check FILE (Path): make a certificate again and say what of it is stale, and why; exit code 1 if anything is, or if it allows nothing,
        7 if not all of it could be made again, as without RUN_OR_DIR, or of an extended one without --probe
    --probe RUN_OR_DIR ... (Path): with --check: a probe that the certificate was extended by, to make the extension again; repeatable
    @prices
    --extend FILE (Path): may this certificate serve the texts of RUN_OR_DIR too, of which people labelled a random probe? If shown, it gets
        a line that says so (in --to FILE, or in place); exit code 1 if it is shown that it may not, 7 if more labels are needed
    --by KEYS (names): with --extend: keys of the items, such as system; each value is tested by itself
    --from TAG (dest=from_language): with --extend: the certified language whose numbers are to serve
    [what to guarantee of automatic acceptance]
    @acceptance
    @sets
    [how to learn the map from the judge's scores to people's]
    @length
    @decisions
    []
    @json

harness prompt-hash (use:prompt_hash): print the hashes of a run's prompts and rubrics, which a program passes to a certificate
    source RUN: a run's folder, or the name of a run in --out
    @out
    @json

harness gate (gate:gate): hold the limits of a policy against a run's numbers: pass (0), fail (1), inconclusive (7)
    source RUN_OR_DIR: a data folder with judgments, a run's folder, or the name of a run in --out
    --policy FILE (Path): the limits (default: gate.toml, as 'harness new gate RUN' writes it)
    --baseline RUN_OR_DIR: an earlier run of the same items and labels, for max_drop
    @card
    @out
    --all: show the limits that hold too
    --signature: print the signature whole, not as a short hash
    [files to write]
    --junit FILE (Path): JUnit XML: a test suite a language, a test case a limit
    --json FILE (Path): JSON for programs, unrounded
    --summary FILE.md (Path): a Markdown table, such as for a pull request

harness watch: keep a certificate only as long as it holds: say when the judge or the texts have changed

harness watch init (watch:init): begin a watch: draw anchors among the labelled texts, ask the judge about each, fix reference levels
    @day
    source RUN_OR_DIR: the run or data folder that the certificate was made from
    --certificate FILE (Path required): from 'harness certify'
    --restart: start the watch in DIR again, after its alarm, with a new certificate; its log goes on, and its settings hold if not given
    [how to watch]
    --anchors N (positive_integer): labelled texts of a language to draw from (default: 200)
    --repeats N (positive_integer): how often to ask about each now (default: 5)
    --per-day N (positive_integer): anchors of a language that are asked each day (default: 30)
    --alpha N (share): the chance of any false alarm in a cell, over all days of a start (default: 0.05)
    --guard DAYS (positive_integer): days with silent anchors until a change of production scores is put down to the texts (default: 30)
    --tolerance N (non_negative_share): a change by less does not matter, as a share of the scale (default: 0)
    --max-age DAYS (positive_integer): the certificate holds so long after a checked day (default: 90)
    --seed N (seed): of all draws (default: 0)
    []
    @asked-again

harness watch add (watch:add): add a day: ask the judge about anchors again, and take in new scores
    @day
    source RUN_OR_DIR (nargs=?): the day's production scores: a run or a data folder with judgments
    --answers RUN_OR_DIR: recorded answers on the day's anchors ('harness watch draw'); the judge is not asked
    @asked-again

harness watch check (watch:check): say whether judge or texts changed: nothing shown (exit code 0), a change or an expired certificate (1),
        not yet known (7)
    @day
    --junit FILE (Path): JUnit XML: a test suite a language, a test case a metric and stream
    --figure FILE (Path): draw all days: .svg, .pdf or .png (extra 'figures')
    @json

harness watch draw (watch:draw): print the anchors of a day, with the number of times to ask each, for a judge that you ask yourself
    @day
"""
