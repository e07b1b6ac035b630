"""The engine `ray`. Nothing outside imports this package but `harness.engines`.

`engine` connects to the cluster and starts actors. The `driver` leases calls to them (`leases`) and alone writes to the store. Each
`worker` asks with the sessions of the local engine. `assignments` says what a worker is given, `messages` what the two sides exchange.
"""
