"""Engines: how calls are asked. Same plan, same store, same results from each."""
