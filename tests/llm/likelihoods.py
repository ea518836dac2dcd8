"""Mean negative log-likelihoods, nats a token, straight from the model. Arguments: its file, and what stands before every text.
Standard input: a JSON list of [prompt, text]. Standard output: a JSON list of numbers, and one for each text."""

import json
import sys

import numpy as np
from llama_cpp import Llama

model = Llama(sys.argv[1], n_ctx=2048, logits_all=True, verbose=False)
means = []
for prompt, text in json.load(sys.stdin):
    whole = sys.argv[2] + prompt + text
    tokens = model.tokenize(whole.encode(), add_bos=False, special=True)
    begin, sums = len((sys.argv[2] + prompt).encode()), []
    model.reset()
    model.eval(tokens)
    at = 0
    for place, token in enumerate(tokens):
        length = len(model.detokenize([token], special=True))
        if at >= begin:
            logits = model.scores[place - 1].astype(np.float64)
            sums.append(np.log(np.exp(logits - logits.max()).sum()) + logits.max() - logits[token])
        at += length
    assert at == len(whole.encode()), (at, len(whole.encode()))
    means.append(float(np.mean(sums)))
json.dump(means, sys.stdout)
