"""Work in processes of its own, behind the interface of concurrent.futures.

`worker_pool.py` is the door: processes of this machine. `dask_workers.py` is the same of a cluster
(the extra for that). What is done there says how far it is, and hears that it is to end, by
`work_link.py`.
"""
