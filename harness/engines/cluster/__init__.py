"""The engine `ray`: `engine` opens the cluster, the `driver` hands calls out in turns (`handout`, `turns`) and alone writes; each `worker`
asks by the local engine's sessions. `shares` divides what may be asked a minute, `charges` keeps the budget where it is spent."""
