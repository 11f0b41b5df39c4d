"""`afrieval prefetch`: downloads the data and model of a config, so that a run needs no network."""

import hashlib
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, user_path
from afrieval._util.terminal import say
from afrieval._util.whole_files import made, write_output
from afrieval.cli.declarations.running import PrefetchCommand
from afrieval.config.arguments import read_given
from afrieval.config.files import run_config
from afrieval.config.settings import DEMO, ModelConfig
from afrieval.languages import ENGLISH
from afrieval.models.load_errors import explain
from afrieval.run.harness.plan import plan_harness
from afrieval.tasks.data.files import HUB, card_of, data_files
from afrieval.tasks.data.hub import commit
from afrieval.tasks.data.lock import LOCK, DataLock, read_lock, write_lock
from afrieval.tasks.data.splits import check_fetched, wanted_files
from afrieval.tasks.declaration.selection import chosen_tasks, named_languages
from afrieval.tasks.declaration.spec import TaskSpec

# What the hf backend never loads: other formats of the same weights.
OTHER_FORMATS = ["original/*", "*.pth", "*.gguf", "*.onnx", "*.h5", "*.msgpack"]


def main(argv: list[str]) -> None:
    """Downloads the data files of the tasks, and the model if one is named."""
    options, settings = read_given(PrefetchCommand, argv, "prefetch")
    config = run_config(settings, needs_model=False)
    if config.data.source != HUB:
        raise UserError(f"data.source must be hub to prefetch, not {config.data.source!r}", "give --data.source hub")
    lock, fetched = DataLock() if options.lock else read_lock(), DataLock()
    mirror = made(user_path(options.to)) if options.to is not None else None
    for spec in chosen_tasks(config):
        say(f"{spec.name}: {_fetch_task(spec, named_languages(spec, config.task), lock, fetched, mirror)}")
        for metric in spec.scoring.metrics:
            try:
                metric.fetch()
            except UserError as e:  # a run leaves the metric out
                say(f"{spec.name}: {metric.name}: {e.message}; {e.hint}")
        for line in check_fetched(spec, lock):
            say(line)
    if mirror:
        say(f"the files are in {mirror}; give --data.source {mirror}")
    if options.lock:
        write_lock(fetched)
        say(f"wrote {LOCK}")
    for cell in plan_harness(config).cells:
        say(f"{cell.name}: {cell.n} documents")
    model = config.model.model_name
    if model not in (None, DEMO) and not user_path(str(model)).is_dir():
        say(_fetch_model(config.model))


def _fetch_task(spec: TaskSpec, languages: list[str], lock: DataLock, fetched: DataLock, mirror: Path | None) -> str:
    """Fetches a task's files, adds them to `fetched` and the mirror, and returns a line with their number and gaps."""
    if spec.own_data:
        return f"its rows are in {spec.own_data}"
    files, missing = 0, []
    parts = [(spec, language, split) for language in languages for split in spec.data.files]
    if spec.direct and spec.data.fewshot:  # examples of a translated test set are the English ones
        parts.append((spec.direct, ENGLISH, spec.data.fewshot))
    for task, language, split in parts:
        for pattern in wanted_files(task, language, split):
            local_files = data_files(pattern, HUB, lock)
            missing += [] if local_files else [f"{language} {pattern.split}"]
            files += len(local_files)
            for file in local_files:
                content = read_bytes(file.path, "delete it, and fetch it again")
                sha256 = hashlib.sha256(content).hexdigest()
                lock.check(file.repository, file.name, sha256)
                fetched.files.setdefault(file.repository, {})[file.name] = sha256
                if commit_hash := commit(file.path):
                    fetched.commits[file.repository] = commit_hash
                if mirror:
                    _copy(content, mirror / file.repository.partition("@")[0] / file.name)
            if mirror and local_files and (card := card_of(pattern, HUB, lock)):
                _copy(read_bytes(card, "delete it, and fetch it again"), mirror / pattern.repository / card.name)
    return f"{files} files" + (f"; the hub has no {', '.join(missing)}" if missing else "")


def _copy(content: bytes, path: Path) -> None:
    """Writes a file of a mirror, and refuses one that is there with other content."""
    if not path.exists():
        made(path.parent)
        write_output(path, content)
    elif read_bytes(path, "name another folder with --to") != content:
        raise UserError(f"{path} is there, and differs from the hub's", "delete it, or name another folder with --to")


def _fetch_model(model: ModelConfig) -> str:
    from huggingface_hub import snapshot_download

    try:
        return snapshot_download(str(model.model_name), revision=model.revision, ignore_patterns=OTHER_FORMATS)
    except Exception as e:
        raise explain(model, e) from e
