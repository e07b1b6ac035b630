"""The batch engine, cut as calls travel: `files` go out by `submission` and are noted in the `record`; `results` come back, what was
refused is looked at by `refusal`, and `accounts` say how it went. `engine` puts them together, `status` only looks."""
