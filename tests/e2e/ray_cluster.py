"""A Ray cluster of several nodes on this machine, on the loopback interface only: `python ray_cluster.py NODES`.

A process of its own, so that it ends with its standard input whatever becomes of the tests. It prints its address, and after each line
`kill` that it is told the number of nodes that are left. Everything that Ray writes goes into RAY_TMPDIR.
"""

from __future__ import annotations

import json
import os
import sys

SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False, "node_ip_address": "127.0.0.1"}


def main(nodes: int) -> None:
    """A head without CPUs, and nodes with one each."""
    from ray.cluster_utils import Cluster

    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")  # Ray prints on the other one
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **SMALL})
    try:
        workers = [cluster.add_node(num_cpus=1, **SMALL) for _ in range(nodes)]
        print(json.dumps({"address": cluster.address}), file=out, flush=True)
        for _ in sys.stdin:
            cluster.remove_node(workers.pop(), allow_graceful=False)
            print(json.dumps({"left": len(workers)}), file=out, flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
