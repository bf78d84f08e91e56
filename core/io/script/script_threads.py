"""The threads of a document in a Python script, as TensorFlow's queue runners would run them."""

from __future__ import annotations

from gradstep.core.document.document import Document

HELPER = '''
import threading


def keep_running(session, fetches, feeds, closes):
    """Run `fetches` again and again; when there is no more, what closes the queue."""
    try:
        try:
            while True:
                session.run(fetches, feeds)
        except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
            if closes:
                session.run(closes)
    except (RuntimeError, tf.errors.CancelledError):
        pass  # the session is closed, or the queue is

'''


def start_lines(document: Document) -> list[str]:
    """The lines inside the session that start the threads; `feeds` is there."""
    lines = []
    for thread in document.threads:
        fetches = [f"operation({name!r})" for name in thread.targets]
        fetches += [f"tensor({ref.short!r})" for ref in thread.fetches]
        closes = f"operation({thread.closes!r})" if thread.closes else "None"
        arguments = f"(session, [{', '.join(fetches)}], feeds, {closes})"
        lines.append(
            f"    threading.Thread(target=keep_running, args={arguments}, daemon=True).start()"
        )
    return lines
