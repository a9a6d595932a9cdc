"""A file sink whose commit is an entry in a manifest, and two ways to read it."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_less, one_more


class Manifest(Sink):
    """Tasks write files under their final names; the driver commits by a manifest.

    A batch that is in the manifest is skipped. A task that fails deletes its file.
    Readers ask the manifest. This is Spark's file sink.
    """

    files = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    manifest = state(False, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Close a file with the rows of partition ``p``."""
        due = not_(self.manifest[b])
        self.files.where(lambda c, e: all_of(c == b, self.holds(p, e), due)).set(
            lambda c, e: one_more(self.files[c, e])
        )

    def takes(self, b: Member) -> bool:
        """A batch that the manifest names is skipped, tasks and all."""
        return not_(self.manifest[b])

    def write_late(self, b: Member, p: Member, a: Member) -> None:
        """Close a file, though the manifest may name the batch by now."""
        self.files.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.files[c, e])
        )

    def abort_task(self, b: Member, p: Member, a: Member, wrote: bool) -> None:  # noqa: FBT001 - a modelled value
        """Delete the attempt's file."""
        due = all_of(wrote, not_(self.manifest[b]))
        self.files.where(lambda c, e: all_of(c == b, self.holds(p, e), due)).set(
            lambda c, e: one_less(self.files[c, e])
        )

    def start_commit(self, b: Member) -> None:
        """The batch is due unless the manifest has it."""
        self.due[b] = not_(self.manifest[b])

    @action(per=Sink.BATCH)
    def add_to_manifest(self, b: Member) -> None:
        """Name the files of the attempts that won."""
        when(self.due[b])
        self.manifest[b] = True
        self.due[b] = False

    def finished(self, b: Member) -> bool:
        """The sink returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees what the manifest names."""
        return if_else(self.manifest[b], 1, 0)


class ManifestDirectory(Manifest):
    """A manifest that readers pass over: every file of the folder counts."""

    breaks = ("at-most-once", "effectively-once", "atomic-visibility", "durable")

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every file that lies there."""
        return self.files[b, e]
