"""Decision models: judges that answer typed questions with a probability for every option, and write nothing.

`forms` has the two wire forms, `providers.toml` what is particular to one provider. `endpoint` asks an endpoint in either form and
says what its responses mean. `embedded` asks an open model in this process.
"""
