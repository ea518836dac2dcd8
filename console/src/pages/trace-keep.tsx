// "Add to a dataset": what a call was asked becomes an item, with what its trace had retrieved; its answer too, if somebody
// says that it is right.
import { useMemo, useState } from "preact/hooks";
import { rowsOf } from "../lib/api";
import { useAsk, useJson } from "../lib/hooks";
import { type Head, labPath } from "../lib/lab";
import { itemOfSpan } from "../lib/playground";
import { bind } from "../lib/statement";
import { tenant } from "../lib/store";
import { Bars, FaultBox, Modal, ShowSql } from "../ui/panel";
import { Hostile } from "../ui/parts";
import { Keep } from "./lab-keep";
import C35 from "../../sql/C35.sql";

export function AddToDataset({ trace, span }: { trace: string; span: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>Add to a dataset</button>
      {open && <Modal title="Add to a dataset" close={() => setOpen(false)}><Body trace={trace} span={span} /></Modal>}
    </>
  );
}

function Body({ trace, span }: { trace: string; span: string }) {
  const heads = useJson<{ datasets: Head[] }>(labPath("datasets", { limit: "1000" }, tenant.value));
  const bound = useMemo(() => bind(C35, { id: trace, span }), [trace, span]);
  const asked = useAsk(bound);
  const [right, setRight] = useState(false);
  const fault = heads.fault ?? asked.fault;
  if (fault) return <FaultBox fault={fault} retry={heads.fault ? heads.retry : asked.retry} />;
  if (!heads.data || !asked.data) return <Bars />;
  const rows = rowsOf(asked.data);
  const item = itemOfSpan(rows, trace, span);
  const answer = rows.find((row) => row.span_id === span)?.answer;
  if (!item) return <p>This span was asked nothing that is a text.</p>;
  const input = typeof item.input === "string" ? item.input : JSON.stringify(item.input, null, 2);
  return (
    <div class="stack">
      <dl class="kv">
        <dt>Input</dt><dd class="text"><Hostile text={input} most={2000} /></dd>
        <dt>Contexts</dt><dd>{item.contexts?.length ?? 0}</dd>
        {typeof answer === "string" && <><dt>Answer</dt><dd class="text"><Hostile text={answer} most={2000} /></dd></>}
      </dl>
      {typeof answer === "string" && (
        <label><input type="checkbox" checked={right} onChange={() => setRight(!right)} />This answer is right: it becomes what is expected</label>
      )}
      <Keep item={right && typeof answer === "string" ? { ...item, expected: answer } : item} heads={heads.data.datasets} message="from a trace" />
      <ShowSql bounds={[bound]} />
    </div>
  );
}
