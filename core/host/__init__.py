"""The engine process, as the window starts it and asks it.

`EngineClient` is the window's end, `EngineService` answers requests without any process,
`engine_worker.py` puts it behind pipes, `process` starts and ends it. `file_worker.py` reads a
stranger's file in a process of its own.
"""
