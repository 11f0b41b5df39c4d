"""Downloads single data files from the Hugging Face hub; cached files are never requested again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from afrieval._util.errors import CURES, DENIED, FULL, UserError

CONVERTED = "refs/convert/parquet"  # the branch with the hub's conversion of a data set
_only_cached = ContextVar("_only_cached", default=False)


class NotCachedError(UserError):
    """A file would have to be downloaded."""


@contextmanager
def only_cached() -> Iterator[None]:
    """Downloads nothing in its block, in this thread: what is not in the cache is a NotCachedError."""
    before = _only_cached.set(True)
    try:
        yield
    finally:
        _only_cached.reset(before)


def check_access(repository: str, revision: str) -> None:
    """Asks the hub whether a dataset repository may be downloaded.

    Raises:
        UserError: if it may not, does not exist, or the hub cannot be reached or, in `only_cached`, must not be asked.
    """
    from huggingface_hub import HfApi

    _check_may_download(repository)
    try:
        HfApi().auth_check(repository, repo_type="dataset")
    except Exception as e:  # as in `fetch`
        raise _explain(repository, revision, e) from e


def download(repository: str, file: str, revision: str, local_files_only: bool) -> Path:
    """Returns the path of a file in the hub's cache; raises what the hub's client raises."""
    from huggingface_hub import _CACHED_NO_EXIST, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError

    cached = try_to_load_from_cache(repository, file, repo_type="dataset", revision=revision)
    if local_files_only and cached is _CACHED_NO_EXIST:
        raise EntryNotFoundError(f"{repository} has no {file}, as of an earlier request")
    path = hf_hub_download(repository, file, repo_type="dataset", revision=revision, local_files_only=local_files_only)
    return Path(path)


def download_all(repository: str, patterns: list[str], revision: str, local_files_only: bool) -> Path:
    """Returns a folder of the hub's cache with the files that match; raises what the hub's client raises."""
    from huggingface_hub import HfApi, snapshot_download

    if not local_files_only:  # without network or access, the client would return only what it has
        HfApi().list_repo_files(repository, revision=revision, repo_type="dataset")
    where: dict[str, Any] = {"revision": revision, "allow_patterns": patterns, "local_files_only": local_files_only}
    return Path(snapshot_download(repository, repo_type="dataset", **where))


def fetch(repository: str, file: str, revision: str) -> Path | None:
    """Returns the local path of a dataset repository's file, and downloads it if necessary.

    Returns:
        The path in the hub's cache, or None if the repository has no such file.

    Raises:
        UserError: if there is no network, no such repository, or no access to it.
    """
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError, RevisionNotFoundError

    try:
        return download(repository, file, revision, local_files_only=True)
    except LocalEntryNotFoundError:
        _check_may_download(repository)
    except EntryNotFoundError:
        return None
    try:
        return download(repository, file, revision, local_files_only=False)
    except Exception as e:  # the hub's client raises its own, httpx's and the system's
        if isinstance(e, EntryNotFoundError) and not isinstance(e, LocalEntryNotFoundError):
            return None
        if isinstance(e, RevisionNotFoundError) and revision == CONVERTED:
            return None  # the hub does not convert every data set
        raise _explain(repository, revision, e) from e


def listing(repository: str, revision: str) -> list[str]:
    """Returns the names of all files of a dataset repository; none if it has no such branch.

    Raises:
        UserError: as `fetch`.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RevisionNotFoundError

    _check_may_download(repository)
    try:
        return HfApi().list_repo_files(repository, revision=revision, repo_type="dataset")
    except RevisionNotFoundError:
        return []
    except Exception as e:  # as in `fetch`
        raise _explain(repository, revision, e) from e


def snapshot(repository: str, patterns: list[str], revision: str) -> Path:
    """Returns a folder with the matching files of a dataset repository, and downloads them if none is cached.

    Raises:
        UserError: if there is no network, no such repository, or no access to it.
    """
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = download_all(repository, patterns, revision, local_files_only=True)
        if any(path for pattern in patterns for path in folder.glob(pattern)):
            return folder
    except LocalEntryNotFoundError:
        pass
    _check_may_download(repository)
    try:
        return download_all(repository, patterns, revision, local_files_only=False)
    except Exception as e:  # the hub's client raises its own, httpx's and the system's
        raise _explain(repository, revision, e) from e


def commit(path: Path) -> str | None:
    """Returns the commit of a file in the hub's cache: the name of its folder below `snapshots`."""
    parts = path.parts
    return parts[parts.index("snapshots") + 1] if "snapshots" in parts else None


def _check_may_download(repository: str) -> None:
    if _only_cached.get():
        hint = "download it with `afrieval prefetch`"
        raise NotCachedError(f"{repository} is not, or not completely, in the hub's cache", hint)


def _explain(repository: str, revision: str, error: Exception) -> Exception:
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(error, GatedRepoError):
        return UserError(f"no access to {repository}", "accept its terms on the hub, then run `hf auth login`")
    if isinstance(error, RepositoryNotFoundError):
        return UserError(
            f"the hub has no dataset {repository}", "check data.hub in the task file, or run `hf auth login`"
        )
    if isinstance(error, RevisionNotFoundError):
        return UserError(f"{repository} has no revision {revision!r}", "check data.revision in the task file")
    if isinstance(error, OSError) and error.errno in (*FULL, *DENIED):
        where = error.filename or "the hub's cache"
        return UserError(f"{where} cannot be written: {error.strerror}", f"{CURES[error.errno]} (HF_HOME)")
    if isinstance(error, OSError) or type(error).__module__.split(".")[0].startswith("http"):
        offline = "; HF_HUB_OFFLINE is set" if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0") else ""
        return UserError(
            f"{repository} is not in the hub's cache, and the hub cannot be reached ({type(error).__name__})",
            f"download it with `afrieval prefetch` where there is a network, or give --data.source FOLDER{offline}",
        )
    return error
