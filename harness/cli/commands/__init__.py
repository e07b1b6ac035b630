"""The commands, by what they are for: the class of each (none for a group of commands), and its help."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "find out": {
        "atlas": ("find_out:ShowAtlas", "what is known of judges by language: which one may be used for what, on people's labels"),
        "start": ("find_out:Start", "begin with a spreadsheet: find its texts and scores, import them, and say what to do next"),
        "run": ("find_out:Run", "ask judges and report how well they agree with the labels"),
        "compare": ("find_out:Compare", "compare judges with people: a table with scores of both, recorded judgments, runs"),
        "report": ("find_out:ShowReport", "rebuild a run's report from the store, without asking a judge"),
        "runs": ("find_out:Runs", "list the runs of a results folder"),
    },
    "use a judge's scores": {
        "improve": ("use_scores:Improve", "choose the judge or setting that agrees best with people, confirm it on other labels"),
        "explain": ("use_scores:Explain", "show what a judge's errors follow: the length, language or system of texts"),
        "correct": ("use_scores:Correct", "estimate means, class shares and differences of systems from a judge's scores and some labels"),
        "accept": ("use_scores:Accept", "find from which confidence on a judge's answers can be accepted without a person"),
        "calibrate": (
            "use_scores:Calibrate",
            "learn what people say of a text with a judge's score, by language: scores before and after, and sets with a guarantee",
        ),
        "probabilities": (
            "use_scores:ShowProbabilities",
            "say by language whether a judge's probabilities may be believed: as often right as it is sure, or only after a refit",
        ),
        "certify": (
            "use_scores:Certify",
            "write a judge's certificate for other programs, check whether one holds, or extend it to other texts",
        ),
        "prompt-hash": (
            "use_scores:PromptHash",
            "print the hashes of a run's prompts and rubrics, which a program passes to a certificate",
        ),
        "gate": ("use_scores:Gate", "hold the limits of a policy against a run's numbers: pass (0), fail (1), inconclusive (7)"),
        "watch": ("", "keep a certificate only as long as it holds: say when the judge or the texts have changed"),
        "watch init": (
            "use_scores:WatchInit",
            "begin a watch: draw anchors among the labelled texts, ask the judge about each, fix reference levels",
        ),
        "watch add": ("use_scores:WatchAdd", "add a day: ask the judge about anchors again, and take in new scores"),
        "watch check": (
            "use_scores:CheckWatch",
            "say whether judge or texts changed: no change is shown (exit code 0), a change or an expired certificate (1), unknown (7)",
        ),
        "watch draw": (
            "use_scores:WatchDraw",
            "print the anchors of a day, with the number of times to ask each, for a judge that you ask yourself",
        ),
    },
    "people's labels and published data": {
        "labels": ("", "import, export and check label sets, and plan how many labels are needed"),
        "labels import": (
            "labels_and_data:LabelsImport",
            "convert a table, a filled sheet or an export of an annotation tool to a data folder",
        ),
        "labels export": ("labels_and_data:LabelsExport", "write labels as a table, or items as a sheet or a project for people to score"),
        "labels check": ("labels_and_data:LabelsCheck", "show how well annotators agree, and which labels and texts look wrong"),
        "labels needed": (
            "labels_and_data:CountLabelsNeeded",
            "show how many more texts have to be labelled, for an interval and for a verdict",
        ),
        "labels plan": ("labels_and_data:LabelsPlan", "draw the texts to label next, by a judge's scores, with the probability of each"),
        "labels reviews": (
            "labels_and_data:LabelsReviews",
            "show how far people agree with a judge's reasons, after 'labels page --review'",
        ),
        "labels page": ("labels_and_data:LabelsPage", "write pages on which people label in their browser, one self-contained file each"),
        "labels serve": ("labels_and_data:LabelsServe", "serve labelling pages to people in one room, and keep their answers as they come"),
        "data": ("", "list, fetch, check and remove published data with people's labels"),
        "data list": (
            "labels_and_data:DataList",
            "list published data: languages, texts, labels, judges, and whether they are here",
        ),
        "data show": ("labels_and_data:DataShow", "show one published set: who labelled, metrics, judges, licence, how to cite it"),
        "data get": ("labels_and_data:DataGet", "fetch published data from their authors, check and convert them"),
        "data check": ("labels_and_data:DataCheck", "read fetched data again and hold them against the hashes of their card"),
        "data remove": ("labels_and_data:DataRemove", "remove fetched data and their raw files"),
        "data path": ("labels_and_data:DataPath", "print the folder of fetched data"),
    },
    "other programs": {
        "import": ("other_programs:ImportScores", "convert scores that another program made, judges' and people's, to a data folder"),
        "export": ("", "write a judge, its scores or a data set in the form of another program"),
        "export promptfoo-judge": (
            "other_programs:ExportPromptfooJudge",
            "write python assertions with which promptfoo asks a judge as 'run' does",
        ),
        "export inspect-scores": (
            "other_programs:ExportInspectScores",
            "write a judge's scores as a file for Inspect's precomputed_scores",
        ),
        "export hub": (
            "other_programs:ExportHub",
            "write items, labels and judgments as a data set for a hub, with its card; uploads nothing",
        ),
    },
    "leaderboards": {
        "board": ("", "show, build, check, verify and seal leaderboards"),
        "board show": ("leaderboards:BoardShow", "print a board's standings, recomputed from the raw replies, and the findings of probes"),
        "board build": ("leaderboards:BoardBuild", "write TABLE.md of each board, and a static site"),
        "board check": ("leaderboards:BoardCheck", "read every reply of the submissions again, and list all problems"),
        "board record": (
            "leaderboards:BoardRecord",
            "write the judgments in a board's data folder as submissions of recorded scores, without raw replies",
        ),
        "board verify": (
            "leaderboards:BoardVerify",
            "ask a sample of a submission's calls again, twice each, and mark it as verified if the answers match",
        ),
        "board seal": ("leaderboards:BoardSeal", "encrypt a board's labels, and publish a commitment (salted hash) to them"),
        "board open": ("leaderboards:BoardOpen", "decrypt the sealed labels of a board into a new folder"),
        "board rotate": ("leaderboards:BoardRotate", "encrypt a board's sealed labels for other keys; the labels do not change"),
        "submit": ("leaderboards:Submit", "write a run's replies to a board's folder, so that they can be proposed; sends nothing"),
    },
    "studies and large jobs": {
        "batch": ("", "manage the batches that 'harness run --engine batch' submitted"),
        "batch status": ("studies_and_jobs:BatchStatus", "show the batches of a results folder and their progress at the provider"),
        "batch collect": (
            "studies_and_jobs:BatchCollect",
            "fetch a run's finished batches and print the report once nothing is missing; submits nothing",
        ),
        "batch forget": ("studies_and_jobs:BatchForget", "give up a batch that cannot be fetched; its calls are asked and paid for again"),
        "generate": ("studies_and_jobs:Generate", "let models write the outputs of a task, as a data folder to be judged"),
        "pairs": ("studies_and_jobs:Pairs", "make pairs of outputs from a data folder with outputs of several systems"),
        "study": ("", "the section of a published study from recorded answers, and texts for one"),
        "store": ("", "check, export, clean or merge the replies of results folders"),
        "store check": ("studies_and_jobs:StoreCheck", "check the store: its file, and the relations and checksums of its rows"),
        "store export": ("studies_and_jobs:StoreExport", "export the replies of a results folder, for replay/<file>"),
        "store gc": ("studies_and_jobs:StoreGc", "delete unreferenced rows, never answers, and reclaim disk space"),
        "store merge": ("studies_and_jobs:StoreMerge", "merge the results folders of several machines into one"),
    },
    "content and this installation": {
        "list": ("content_and_installation:ListContent", "list languages, tasks, rubrics, published data sets, boards or judges"),
        "check": ("content_and_installation:CheckContent", "check all content: fields, scales, ids and versions"),
        "new": (
            "content_and_installation:NewContent",
            "create the files of a new language pack, task, rubric or prompt, words of labelling pages in a language, or a gate's policy",
        ),
        "models": ("content_and_installation:Models", "list or download local models"),
        "doctor": ("content_and_installation:Doctor", "show installed packages, and which models, keys and folders are available"),
    },
}

OPEN_GROUP = "study"
"""The group of commands that holds those of entry points."""


@cache
def commands(*, plugins: bool = True) -> dict[str, tuple[str, str]]:
    """Return the class of each command, `module:class`, empty for a group, and its help.

    Without `plugins`, the commands of entry points are not there: to look for them takes longer than most commands take to begin.
    """
    targets = {
        name: (target and f"harness.cli.commands.{target}", text)
        for by_name in COMMANDS.values()
        for name, (target, text) in by_name.items()
    }
    if plugins:
        from harness.plugins import load, registered

        for point in registered("harness.commands", "command").values():
            targets |= load(point, dict, "command")
    return {name: (target, f"{text[0].upper()}{text[1:]}.") for name, (target, text) in targets.items()}


def known_commands(words: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the commands among which the one that words begin with stands: those of entry points only if they are needed."""
    bundled = commands(plugins=False)
    return bundled if words and words[0] != OPEN_GROUP and words[0] in bundled else commands()


def name_of(words: Sequence[str]) -> str:
    """Return the name of the command or the group of commands that words begin with; empty for none."""
    available = known_commands(words)
    return next((name for name in (" ".join(words[:count]) for count in (2, 1)) if name in available), "")


def leaves(words: Sequence[str] = ()) -> list[str]:
    """Return the commands that can be run, or those of the group that words name."""
    return [name for name, (target, _) in known_commands(words).items() if target and name.split()[: len(words)] == list(words)]
