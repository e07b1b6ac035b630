"""Commands of the study of self-preference. `harness.cli.listing` reads this."""

COMMANDS = r"""
harness study self-preference (harness.studies.self_preference.commands:self_preference): show whether judges
        recognise and prefer their own outputs (Panickssery et al. 2024)
    --data DIR (Path required): a data folder with recorded answers about pairs of outputs
    --judge NAME ...: only this judge; repeatable
    @card
    --seed N (seed default=0): seed for the resamples of the line (default: 0)
    @json

harness study export-finetuning (harness.studies.self_preference.commands:export_fine_tuning): write chats for
        fine-tuning a judge on a question about pairs, with answers
    --data DIR (Path required): a data folder of pairs, as 'harness pairs' writes it
    --question NAME (required): recognition, longer, vowels, readable, always-1 or random (the last two are controls that can teach nothing)
    --system NAME: for recognition: the system of the data that the tuned model is
    --examples N (positive_integer): at most N training examples (default: all)
    --split SHARE (share default=0.2): the share of source texts that is held out (default: 0.2)
    --langs, --lang TAGS (names): languages, separated by commas (default: all of the data)
    --seed N (seed default=0): seed of the split and of random answers (default: 0)
    --out DIR (Path required): the folder to write; it must not exist
    @content
"""
