"""Decision models: judges that answer typed questions with a probability for every option, and write nothing.

`endpoint` asks an endpoint in one of the two wire forms, `embedded` an open model in this process.
"""
