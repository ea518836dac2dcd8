"""Everyday rows as sets for `groundline evalbench --data OUT`, so that the program itself is measured on them.

    python everyday_sets.py --traindata DIR2 --out OUT
    groundline evalbench --data OUT --task groundedness --dataset everyday_held --dataset hard_held --dataset fresh_held --dataset bound_held --dataset later_held --dataset long_held
    groundline evalbench --data OUT --task answer_relevance --dataset everyday_held
    groundline evalbench --data OUT --split dev      # rows that may choose thresholds
    groundline score --input OUT/mix.jsonl --evaluator '*'   # a fixed mix: what an item costs by evaluator stands in the summary

| set | split | rows |
|---|---|---|
| groundedness/everyday_held | test | 150 whole groups of everyday_written that nothing was trained on and that chose nothing |
| groundedness/hard_held | test | each fifth group of written/everyday-{wq..wu,n*}, likewise |
| groundedness/fresh_held | test | each fifth group of written/everyday-o*, likewise |
| groundedness/bound_held | test | each fifth group of written/everyday-p*, likewise |
| groundedness/later_held | test | all groups of written/everyday-q*: nothing has learned from them yet |
| groundedness/long_held | test | each fifth group of written/long-*; half of them helped to fit the combiner and have the split dev |
| answer_relevance/everyday_held | test | the same 150 groups |
| groundedness/everyday_choosing, answer_relevance/everyday_choosing | dev | the 77 groups that fit the combiners and choose |
| groundedness/everyday_train, answer_relevance/everyday_train | dev | what the models were trained on: only for thresholds of evaluators that were not |
"""

import argparse
import gzip
import json
from pathlib import Path

import entailment_groups as eg
import entailment_public as public
import relevance_everyday


def write(out, name, rows, split):
    path = out / f"{name}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = ("id", "group", "question", "context", "answer", "label", "label_raw", "spans", "domain")
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=6) as lines:
        for r in rows:
            part = split if isinstance(split, str) else split(r)
            lines.write(json.dumps({"split": part, **{f: r[f] for f in fields if f in r}}, ensure_ascii=False) + "\n")
    print(f"{path}: {len(rows)} rows, {sum(r['label'] for r in rows)} with label 1, {len({r['group'] for r in rows})} groups")


def write_mix(path, rows):
    """Every fourth row as `groundline score` reads it."""
    with path.open("w", encoding="utf-8") as lines:
        for r in rows[::4]:
            contexts = r["context"] if isinstance(r["context"], list) else [r["context"]]
            lines.write(json.dumps({"id": r["id"], "question": r["question"], "answer": r["answer"], "contexts": contexts}, ensure_ascii=False) + "\n")


def long_split(row):
    """As entailment_verdict.py takes them: every other of these groups helps to fit the combiner."""
    return "test" if int(row["group"].partition("-")[2]) // 5 % 2 else "dev"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traindata", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    grounded = public.rows_of(args.traindata, "everyday_written")
    relevant = relevance_everyday.read(args.traindata, "everyday_written")
    held, choosing = public.folds(grounded)
    for task, rows in (("groundedness", grounded), ("answer_relevance", relevant)):
        of = lambda wanted: [r for r in rows if wanted(r["group"])]
        write(args.out, f"{task}/everyday_held", of(lambda g: g in held), "test")
        write(args.out, f"{task}/everyday_choosing", of(lambda g: g in choosing), "dev")
        write(args.out, f"{task}/everyday_train", of(lambda g: g not in held and g not in choosing), "dev")
    write_mix(args.out / "mix.jsonl", [r for r in grounded if r["group"] in held])
    ours = [r for r in eg.rows() if eg.held_out(r["group"])]
    for name in ("hard", "fresh", "bound", "later"):
        write(args.out, f"groundedness/{name}_held", [r for r in ours if eg.family(r["group"]) == name], "test")
    long = [r for r in eg.long_rows(args.traindata) if eg.long_held_out(r["group"])]
    write(args.out, "groundedness/long_held", long, long_split)


if __name__ == "__main__":
    main()
