"""The batch engine. `files` writes files of requests, `submission` submits them, `record` records them in the store.

`results` collects batches that have ended, `accounts` keeps the state of every call, `engine` joins all of these.
"""
