"""Texts that ONNX Runtime embeds a second: model, tokens, batch, instances, seconds."""

import sys
import threading
import time

import numpy as np
import onnxruntime as ort

model, tokens, batch, instances, seconds = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])


def opened():
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


sessions = [opened() for _ in range(instances)]
done = [0] * instances
ids = np.random.default_rng(7).integers(1000, 28000, (batch, tokens))
feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
for session in sessions:
    session.run(None, feed)
end = time.monotonic() + seconds


def work(at):
    while time.monotonic() < end:
        sessions[at].run(None, feed)
        done[at] += batch


start = time.monotonic()
threads = [threading.Thread(target=work, args=(i,)) for i in range(instances)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(done) / (time.monotonic() - start))
