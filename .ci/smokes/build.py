"""A guest with a package of its own, made and run."""

import tempfile
import zipfile
from pathlib import Path

from codeact import Sandbox
from codeact.guests import make

FILES = {
    "greeter.py": "WORD = 'hello'\n",
    "greeter-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n",
    "greeter-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}

with tempfile.TemporaryDirectory() as folder:
    wheel, guest = Path(folder) / "greeter-1.0-py3-none-any.whl", Path(folder) / "guest.wasm"
    record = "greeter-1.0.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in {**FILES, record: "".join(f"{name},,\n" for name in [*FILES, record])}.items():
            archive.writestr(name, content)
    make([str(wheel)], guest, print)
    result = Sandbox(guest=guest).run("import greeter\ngreeter.WORD")
    assert result.value == "hello", result.observation()
