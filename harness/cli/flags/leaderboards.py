"""Commands for leaderboards. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness board: show, build, check, verify and seal leaderboards

harness board show (boards.standings:show): print a board's standings, recomputed from the raw replies, and the findings of probes
    board BOARD: the board's name; see 'harness list boards'
    --lang TAG: only this language, with a table for each metric
    --all: also a table for each language, the findings of probes and what the headings mean
    @opened
    @json

harness board build (boards.standings:build): write TABLE.md of each board, and a static site
    boards BOARD (nargs=*): only these boards (default: all with submissions)
    --site DIR (Path): also write a site to this folder: an index, and a page for each board
    --beside NAME=PAGE ... (default=): with --site: link to a page beside them
    @opened

harness board check (boards.board:check): read every reply of the submissions again, and list all problems
    boards BOARD (nargs=*): only these boards (default: all)
    --changed BASE: check only the commits since BASE (e.g. origin/main), which may add submissions and nothing else
    @opened
    @json

harness board record (boards.board:record): write the judgments in a board's data folder as submissions of recorded scores, without raw
        replies
    board BOARD: a board that judges a data folder and asks every question once
    --origin TEXT (required): where the scores come from, and under which licence; will be published
    @board-data
    [what to write, and where]
    --judge NAME ... (default=): only this judge of the judgments; repeatable
    --name DIRNAME: name of the submission's folder (default: from the judge's name)
    --into DIR (Path): the checkout that holds leaderboards/ (default: the one in use)
    --replace: replace an earlier submission of the same judge
    @about
    []
    @content
    @json

harness board verify (boards.verify:verify): ask a sample of a submission's calls again, twice each, and mark it as verified if the answers
        match
    board BOARD: the board
    submission SUBMISSION: the submission's folder, by name or path
    --share S (share default=0.05): share of the board's calls to ask, at least 20 calls (default: 0.05)
    --seed N (seed): seed for drawing the calls (default: random, so that nobody can predict it)
    --base-url URL: the endpoint of an openai/ judge (default: from the environment)
    --header NAME=VALUE ... (header dest=headers): a header that the judge was asked with, as its value is not recorded; repeatable
    @board-data
    --out DIR (Path): keep the replies, so that the same command can continue (default: discard them)
    @content
    [speed and limits (they change no number)]
    --concurrency N (positive_integer): calls in flight
    --rpm N (number_per_judge): at most N requests a minute
    --tpm N (number_per_judge): at most N tokens a minute
    @retries
    --max-cost DOLLARS (positive_number): ask nothing if the calls would cost more than this
    @prices
    []
    --yes: send the texts of a private data folder to the endpoint without asking for consent
    @json

harness board seal (boards.seal:seal): encrypt a board's labels, and publish a commitment (salted hash) to them
    board BOARD: a board whose labels are kept elsewhere
    --labels DIR|FILE (Path required): the labels, outside the published folders
    @recipients
    --canary TEXT: the canary sentence in every data file of the board (default: a new one)
    @board-data
    @content
    @json

harness board open (boards.seal:open_): decrypt the sealed labels of a board into a new folder
    board BOARD: the board
    @key
    --to DIR (Path required): a new folder, outside the published folders
    @content

harness board rotate (boards.seal:rotate): encrypt a board's sealed labels for other keys; the labels do not change
    board BOARD: the board
    @key
    @recipients
    @content

harness submit (boards.board:submit): write a run's replies to a board's folder, so that they can be proposed; sends nothing
    run RUN: a run's name, the beginning of one, or its folder
    --board NAME (required): the board whose protocol the run follows
    [what to submit, and where to write it]
    --judge NAME ... (default=): only this judge of the run; repeatable
    --name DIRNAME: name of the submission's folder (default: from the judge's name)
    --into DIR (Path): the checkout that holds leaderboards/ (default: the one in use)
    --replace: replace an earlier submission of the same judge
    --part: a run of some languages or with --limit: submit it as a part, which says so
    @out
    @about
    []
    @json
"""
