"""`afrieval prefetch`: download what a config needs; after it, a run makes no network call."""

from pathlib import Path

from afrieval.arguments import read_config
from afrieval.config import DEMO, RunConfig
from afrieval.errors import UserError
from afrieval.run.harness import plan_harness
from afrieval.run.plan import named_languages
from afrieval.tasks.data import HUB, hub_file
from afrieval.tasks.hub import fetch
from afrieval.tasks.spec import TaskSpec, load_task


def main(argv: list[str]) -> None:
    """Downloads the data files of the tasks, and the model if one is named."""
    config = read_config(argv, command="prefetch", needs_model=False)
    if config.data.source != HUB:
        raise UserError(f"data.source is {config.data.source!r}", "prefetch needs --data.source hub")
    for name in config.task_names:
        spec = load_task(name)
        print(f"{name}: {_fetch_task(spec, config)}")
    for cell in plan_harness(config).cells:
        print(f"{cell.name}: {cell.n} documents")
    model = config.model.model_name
    if model not in (None, DEMO) and not Path(str(model)).expanduser().is_dir():
        from huggingface_hub import snapshot_download

        from afrieval.models.load import explain

        try:
            # what the hf backend never loads: other formats of the same weights
            other = ["original/*", "*.pth", "*.gguf", "*.onnx", "*.h5", "*.msgpack"]
            print(
                snapshot_download(str(config.model.model_name), revision=config.model.revision, ignore_patterns=other)
            )
        except Exception as e:
            raise explain(config.model, e) from e


def _fetch_task(spec: TaskSpec, config: RunConfig) -> str:
    languages = named_languages(spec, config.task.languages)
    files, missing = 0, []
    for language in languages:
        for split in spec.data.files:
            path = fetch(spec.data.hub, hub_file(spec, language, split), spec.data.revision)
            files += path is not None
            if path is None:
                missing.append(f"{language} {split}")
    return f"{files} files" + (f"; the hub has no {', '.join(missing)}" if missing else "")
