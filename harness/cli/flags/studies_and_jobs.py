"""Commands for studies and large jobs. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness batch: manage the batches that 'harness run --engine batch' submitted

harness batch status (batch:status): show the batches of a results folder and their progress at the provider
    --base-url [JUDGE=]URL ... (base_url): the endpoint that was asked (default: from the environment); repeatable for several judges
    @recorded-header
    @out
    @json

harness batch collect (batch:collect): fetch a run's finished batches and print the report once nothing is missing; submits nothing
    run RUN (nargs=?): a run's name, the beginning of one, or its folder (default: the latest run with batches)
    @prices
    --base-url [JUDGE=]URL ... (base_url): the endpoint that was asked (default: from the environment); repeatable for several judges
    @recorded-header
    @out
    @json

harness batch forget (batch:forget): give up a batch that cannot be fetched; its calls are asked and paid for again
    batch BATCH: the id that 'harness batch status' shows
    @out

harness generate (generate:generate_texts): let models write the outputs of a task, as a data folder to be judged
    --task NAME (required): what is written: summarize, open_prompt, continue_writing, rate_story, ...
    --by JUDGE ... (required): who writes: any judge that is a model; repeatable
    --langs, --lang TAGS (names): languages, separated by commas: ja,cs (default: all that have inputs)
    --data DIR (Path): take the inputs of a data folder instead of the control items'
    --limit N (positive_integer): only the first N inputs of each language
    @content
    --base-url [JUDGE=]URL ... (base_url): the OpenAI-compatible endpoint of all openai/ writers, or of one; repeatable
    @header
    @body
    [how to ask]
    --temperature T (single_temperature default=0.0): sampling temperature (default: 0)
    --top-p P (single_top_p): nucleus sampling (default: the endpoint's default)
    --own-language: ask in the language of the items instead of English
    --allow-unreviewed: allow instructions that no native reader has reviewed
    --seed N (seed default=0): seed of the calls (default: 0)
    --reask KINDS (reask default=): ask calls again whose reply was: refused (by the model), missing, truncated
    [speed and limits (they change no number)]
    @engine
    @speed
    []
    --out DIR (Path required): the data folder to write; replies are kept there, and outputs are added to it
    --dry-run: show a request for each language, calls, tokens and cost; ask nobody
    @show-texts
    --yes: send the texts of --data to the endpoint without asking for consent
    @json

harness pairs (pairs:pairs): make pairs of outputs from a data folder with outputs of several systems
    data DIR (Path): a data folder whose items have one output each, and a 'system'
    --against SYSTEM|human|all (default=all): each pair holds an output of this system (default: all)
    --equal METRIC:TOL: only pairs that people scored alike: their mean scores differ by TOL at most (Fluency:0.5)
    --control METRICS (names default=): control questions whose answers are computed and become labels: longer, more_vowels, more_readable
    --out DIR (Path required): the data folder to write; it must not exist
    @card
    @content

harness study: the section of a published study from recorded answers, and texts for one

harness store: check, export, clean or merge the replies of results folders

harness store check (store:check): check the store: its file, and the relations and checksums of its rows
    @out
    @json

harness store export (store:export): export the replies of a results folder, for replay/<file>
    --to FILE (Path required): the file to write (.jsonl)
    --judge NAME: only this judge's replies
    @out

harness store gc (store:gc): delete unreferenced rows, never answers, and reclaim disk space
    --dry-run: show what would be removed, and remove nothing
    @out
    @json

harness store merge (store:merge): merge the results folders of several machines into one
    sources DIR (Path nargs=+): a results folder to read
    --out DIR (Path required): the results folder to merge into; created if it does not exist
    @json
"""
