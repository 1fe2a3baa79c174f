"""`registry.cfg` and the environment as one frozen Config, the files that ship beside the code, and the command of child processes."""

import configparser
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from registry.errors import Fault, InputError
from registry.records.record import Authority, AuthorityRole

# `registry.cfg` and the environment become one frozen Config; no one else reads either.

FILE_NAME = "registry.cfg"
EXAMPLE = "EXAMPLE"
"""The authority of demonstrations; what it says never leaves a registry."""
DEFAULT_FILE = "caveat.db"
DEFAULT_URL = f"sqlite:///{DEFAULT_FILE}"
DEFAULT_KEYS = "caveat-keys"
_LONGEST_LIMIT_S = 86_400
_LARGEST_QUORUM = 15
_KNOWN = {
    "registry": {"url", "authority"}, "report": {"time_limit_s"}, "seal": {"keys"}, "web": {"contact"}, "witness": {"logs", "quorum"},
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What this call of Caveat works with."""

    url: str = DEFAULT_URL
    """SQLAlchemy URL of the registry."""
    authority: str = EXAMPLE
    """Code of the authority in whose name statements are made."""
    names_authority: bool = False
    """Whether an option, the environment or `registry.cfg` names that authority; False where it is the default."""
    names_registry: bool = False
    """Whether an option, the environment or `registry.cfg` names the registry; False where it is the default."""
    time_limit_s: float = 120.0
    """Seconds that one supplement may take to lay out."""
    epoch: datetime | None = None
    """The time to use instead of the clock (SOURCE_DATE_EPOCH); None means the clock."""
    keys: Path = Path(DEFAULT_KEYS)
    """The folder of secret keys."""
    passphrase: str | None = field(default=None, repr=False)
    """What opens them (CAVEAT_PASSPHRASE), empty for none; None means that it has to be asked for."""
    witnessed_logs: tuple[str, ...] = ()
    """Keys of the logs whose checkpoints `caveat serve` cosigns."""
    quorum: int = 0
    """Cosignatures that a checkpoint of this log needs before it is published."""

    contact: str | None = None
    """Whom readers of a published registry write to about takedowns and security, `mailto:…` or `https:…`; None: not named."""

    def __post_init__(self) -> None:
        if self.contact is not None and not re.fullmatch(r"(?:mailto:[^\s@]+@[^\s@]+|https://[^\s]+)", self.contact, re.ASCII):
            raise ValueError(f"contact must be mailto:NAME@HOST or an address that begins with https://, got {self.contact!r}")
        Authority(code=self.authority, name="-", role=AuthorityRole.AUDITOR)
        if not 0 < self.time_limit_s <= _LONGEST_LIMIT_S:
            raise ValueError(f"time_limit_s must be above 0 and at most {_LONGEST_LIMIT_S} seconds, got {self.time_limit_s}")
        if not 0 <= self.quorum <= _LARGEST_QUORUM:
            raise ValueError(f"quorum must be from 0 to {_LARGEST_QUORUM} cosignatures, got {self.quorum}")

    @property
    def today(self) -> date:
        """The day of this call in UTC, for what is only read: any clock may be fixed for that."""
        return (self.epoch or datetime.now(UTC)).date()

    def now(self) -> datetime:
        """Return the time of this call in UTC, to the second.

        Raises:
            InputError: a fixed clock (SOURCE_DATE_EPOCH) for another authority than EXAMPLE, with statements that never leave a registry:
                a lock could be dated before scores that are known already.
        """
        if self.epoch is None:
            return datetime.now(UTC).replace(microsecond=0)
        if self.authority != EXAMPLE:
            problem = f"the clock is fixed, and statements of {self.authority} take the real one"
            raise InputError(Fault("clock-fixed", "SOURCE_DATE_EPOCH", problem, advice=f"unset it, or act as {EXAMPLE}"))
        return self.epoch


def read_config(folder: Path, environ: Mapping[str, str] = os.environ, *, url: str | None = None, authority: str | None = None) -> Config:
    """Return the configuration for *folder*: options first, then the environment, then `registry.cfg`, then the defaults.

    Raises:
        InputError: a file that is no configuration, an unknown section or key, a value that does not fit; `foreign-configuration`, the
            file belongs to another user.
    """
    path = folder / FILE_NAME
    values = _read_file(path)
    code = authority or environ.get("CAVEAT_AUTHORITY") or values.get("authority")
    named = url or environ.get("CAVEAT_REGISTRY") or values.get("url")
    chosen = {"url": named or DEFAULT_URL, "authority": code or EXAMPLE}
    try:
        return Config(
            **chosen,
            names_authority=code is not None,
            names_registry=named is not None,
            time_limit_s=float(values.get("time_limit_s", "120")),
            epoch=_read_epoch(environ),
            keys=folder / Path(environ.get("CAVEAT_KEYS") or values.get("keys") or DEFAULT_KEYS).expanduser(),
            passphrase=environ.get("CAVEAT_PASSPHRASE"),
            contact=values.get("contact") or None,
            witnessed_logs=tuple(values.get("logs", "").split()),
            quorum=int(values.get("quorum", "0")),
        )
    except (ValueError, OverflowError, RuntimeError) as error:
        raise InputError(Fault("bad-configuration", f"{path}, or the environment", str(error))) from error


def _read_file(path: Path) -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_read_own(path).decode("utf-8-sig"), source=FILE_NAME)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(Fault("bad-configuration", str(path), f"it cannot be read: {error.strerror or error}")) from error
    except (configparser.Error, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        advice = "write lines such as `authority = AISI` below [registry]; known are " + _list_known()
        raise InputError(Fault("bad-configuration", str(path), problem, advice=advice)) from error
    unknown = [
        Fault("bad-configuration", f"{path}, [{section}] {key}", f"is not known; known are {_list_known()}")
        for section in parser
        for key in parser[section] or ("(section)",)
        if key not in _KNOWN.get(section, set()) and (section != parser.default_section or parser.defaults())
    ]
    if unknown:
        raise InputError(unknown)
    return {key: value for section in parser.sections() for key, value in parser[section].items()}


def _read_own(path: Path) -> bytes:
    """Return the bytes of *path*; a file of another user is refused.

    A configuration names a database server that is asked, and that gets the user's password: in a shared folder another user could write
    one. As ssh does it, root's files are read too, and under sudo those of the user who called it. The open file is asked, not its name.
    """
    with path.open("rb") as stream:
        owner = os.fstat(stream.fileno()).st_uid
        if owner not in _list_trusted_users():
            problem = f"it belongs to another user (uid {owner}), who could send this command to a server of theirs"
            advice = f"read it; if it is right, make it yours: cp {FILE_NAME} mine && mv -f mine {FILE_NAME}"
            raise InputError(Fault("foreign-configuration", str(path), problem, advice=advice))
        return stream.read()


def _list_trusted_users() -> set[int]:
    # Windows has no such numbers; there every file says 0.
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    caller = os.environ.get("SUDO_UID", "") if user == 0 else ""
    return {user, 0, int(caller) if caller.isdecimal() else 0}


def _read_epoch(environ: Mapping[str, str]) -> datetime | None:
    """SOURCE_DATE_EPOCH is the convention of reproducible-builds.org for a fixed clock."""
    text = environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= len("253402300799")):
        raise ValueError(f"SOURCE_DATE_EPOCH is a whole number of seconds since 1970, such as 1795219200; got {text!r}")
    return datetime.fromtimestamp(int(text), UTC)


def _list_known() -> str:
    return ", ".join(f"[{section}] {key}" for section, keys in _KNOWN.items() for key in sorted(keys))


# Finds what ships beside the code (templates, migrations, examples), in a checkout and in a wheel alike.

_HERE = Path(__file__).resolve().parent


def find_resource(name: str) -> Path:
    """Return the folder or file called *name* that ships with Caveat.

    In a wheel it lies in `registry/_bundled/`, in a checkout next to `registry/`.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for place in (_HERE / "_bundled" / name, _HERE.parent / name):
        if place.exists():
            return place
    raise FileNotFoundError(f"{name} is missing from this installation of caveat; reinstall it")


_CACHE_DAYS = 30
"""Each version of Caveat, Python and Jinja2 has a cache of its own, and old ones would never go."""


def find_cache_folder(name: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder *name* for files that may be thrown away, made if it is not there; None where no folder is only the user's.

    Another user who can write there could change what Caveat reads and runs.
    """
    try:
        folder = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "caveat" / name
        is_new = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        places = [place.stat() for place in (folder, folder.parent)]
    # A home folder that is not known is a RuntimeError.
    except (OSError, RuntimeError):
        return None
    is_own = all(place.st_uid in _list_trusted_users() and not place.st_mode & 0o022 for place in places)
    if not (is_own and os.access(folder, os.W_OK)):
        return None
    if is_new:
        _remove_old_caches(folder)
    return folder


def _remove_old_caches(folder: Path) -> None:
    """Remove folders of the kind of *folder* that no version has written for `_CACHE_DAYS`; a version in use makes its own again."""
    oldest = time.time() - _CACHE_DAYS * 86_400
    for other in folder.parent.glob(f"{folder.name.partition('-')[0]}-*"):
        with suppress(OSError):
            if other.is_dir() and not other.is_symlink() and other.stat().st_mtime < oldest:
                shutil.rmtree(other)


# Child processes of our own code, for what meets hostile input: card readers and the layout of PDFs. Whoever starts them sets a limit on
# time; here is the limit on memory.

_CHILD_MEMORY_BYTES = 4_000_000_000
"""Address space of a child: far above what a card or a supplement needs, far below what stops a machine."""
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import registry.configuration; registry.configuration.limit_memory();"
    " from {module} import {function}; {function}(*sys.argv[2:])"
)


def build_child_command(module: str, function: str, *arguments: str) -> list[str]:
    """Return the command of a process that calls *function* of our own *module* with *arguments*, within the limit on memory."""
    # `-P` keeps the working directory, where the user may have a folder `registry` too, off the search path. The parent's own path is
    # passed on, so that both run the same code.
    boot = _BOOT.format(module=module, function=function)
    return [sys.executable, "-P", "-X", "utf8", "-c", boot, json.dumps([path or os.curdir for path in sys.path]), *arguments]


def limit_memory() -> None:
    """Limit the address space of this process, where the system can."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _CHILD_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(_CHILD_MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
