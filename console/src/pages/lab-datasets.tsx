// Datasets: the list; of one its versions, any of them to read, and what changed between it and the version before.
import { count } from "../lib/format";
import { useJson } from "../lib/hooks";
import { type Diff, type Head, type Item, filesOf, labPath, textOf } from "../lib/lab";
import { cutText } from "../lib/limits";
import { address, hrefOf, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { useWalk } from "../lib/walk";
import { Empty, Panel } from "../ui/panel";
import { Link, Time, TraceLink } from "../ui/parts";
import { Import } from "./lab-import";

/** Items on a page. */
const PAGE = 100;
/** Versions that are listed. */
const VERSIONS = 500;

export function Datasets() {
  const { dataset = "" } = address.value.state;
  const asked = useJson<{ datasets: Head[]; next: string | null }>(labPath("datasets", { limit: "1000" }, tenant.value));
  useWalk();
  return (
    <>
      <Panel title="Datasets" sub="every change makes a version, and every version stays" asked={asked} flush>
        {({ datasets, next }) => (datasets.length === 0 ? <NoDataset /> : (
          <>
            <HeadTable heads={datasets} />
            {next && <p class="empty">The first 1,000 by name; SQL has all: <code>SELECT * FROM datasets_latest</code>.</p>}
          </>
        ))}
      </Panel>
      <Import key={`import ${dataset}`} chosen={dataset} />
      {dataset !== "" && <Versions key={dataset} name={dataset} />}
    </>
  );
}

function NoDataset() {
  return (
    <Empty title="There is no dataset yet">
      <p>A file makes one, below, or a query over traces:</p>
      <pre class="code">{`groundline dataset import asked --sql "SELECT question AS input, trace_id, span_id\n  FROM spans WHERE operation = 'llm' AND question IS NOT NULL LIMIT 100"`}</pre>
    </Empty>
  );
}

function HeadTable({ heads }: { heads: Head[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="All datasets" data-walk>
      <table class="quality">
        <thead><tr>
          <th scope="col">Dataset</th><th scope="col">For</th><th scope="col" class="num">Items</th><th scope="col" class="num">Version</th><th scope="col">Changed</th><th scope="col">By</th>
        </tr></thead>
        <tbody>{heads.map((head) => (
          <tr key={head.dataset_id}>
            <td><Link href={hrefOf("lab", "datasets", { dataset: head.name })}>{line(head.name, 60)}</Link></td>
            <td class="muted">{line(head.description ?? "", 100)}</td><td class="num">{count(head.items)}</td><td class="num">{head.version}</td>
            <td><Time at={head.created_at} /></td><td>{line(head.created_by, 40)}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

function Versions({ name }: { name: string }) {
  const asked = useJson<{ versions: Head[] }>(labPath(`datasets/${encodeURIComponent(name)}/versions`, {}, tenant.value));
  const newest = asked.data?.versions[0]?.version ?? 0;
  const version = Number(address.value.state.version ?? 0) || newest;
  return (
    <>
      <Panel title={`Versions of ${visible(name).slice(0, 60)}`} sub="the newest first" asked={asked} flush>
        {({ versions }) => (
          <div class="scroll short" tabIndex={0} role="group" aria-label="Versions" data-walk>
            <table class="quality">
              <thead><tr><th scope="col">Version</th><th scope="col">What</th><th scope="col">Why</th><th scope="col" class="num">Items</th><th scope="col">When</th><th scope="col">By</th><th scope="col">Content</th></tr></thead>
              <tbody>{versions.slice(0, VERSIONS).map((head) => (
                <tr key={head.version} aria-current={head.version === version ? "true" : undefined}>
                  <td><Link href={hrefOf("lab", "datasets", { dataset: name, version: String(head.version) })}>{head.version}</Link></td>
                  <td>{line(head.change, 20)}</td><td>{line(head.message ?? "", 100)}</td><td class="num">{count(head.items)}</td>
                  <td><Time at={head.created_at} /></td><td>{line(head.created_by, 40)}</td><td class="mono muted" title={head.content_hash}>{head.content_hash.slice(0, 8)}</td>
                </tr>
              ))}</tbody>
            </table>
            {versions.length > VERSIONS && <p class="empty">{cutText(versions.length, VERSIONS, "versions")}</p>}
          </div>
        )}
      </Panel>
      {version > 0 && <Version key={version} name={name} version={version} isOld={version !== newest} />}
    </>
  );
}

function Version({ name, version, isOld }: { name: string; version: number; isOld: boolean }) {
  const path = `datasets/${encodeURIComponent(name)}`;
  const items = useJson<Item[]>(labPath(`datasets/${encodeURIComponent(`${name}@${version}`)}/items`, { format: "json", limit: String(PAGE) }, tenant.value));
  const diff = useJson<Diff>(version > 1 ? labPath(`${path}/diff`, { from: String(version - 1), to: String(version) }, tenant.value) : null);
  return (
    <>
      {version > 1 && (
        <Panel title={`From version ${version - 1} to ${version}`} asked={diff} flush>{(data) => <Changes diff={data} />}</Panel>
      )}
      <Panel title={`Items of version ${version}`} sub={isOld ? "an old version, to read" : ""} asked={items} flush>
        {(all) => (all.length === 0 ? <p class="empty">This version has no items.</p> : <ItemTable items={all} />)}
      </Panel>
    </>
  );
}

function Changes({ diff: { added, removed, changed } }: { diff: Diff }) {
  if (added.length + removed.length + changed.length === 0) return <p class="empty">The items say the same.</p>;
  const rows: Array<[string, string, Item, Item | undefined]> = [
    ...changed.map((each): [string, string, Item, Item] => ["changed", "~", each.after, each.before]),
    ...removed.map((item): [string, string, Item, undefined] => ["removed", "−", item, undefined]),
    ...added.map((item): [string, string, Item, undefined] => ["added", "+", item, undefined]),
  ];
  return (
    <div class="scroll short" tabIndex={0} role="group" aria-label="What changed">
      <table>
        <thead><tr><th scope="col">What</th><th scope="col">Input</th><th scope="col">Expected</th><th scope="col">Before</th></tr></thead>
        <tbody>{rows.slice(0, 200).map(([what, sign, item, before], at) => (
          <tr key={at}>
            <td class="nowrap"><span class="chip"><span aria-hidden="true">{sign}</span>{what}</span></td>
            <td>{line(textOf(item.input), 160)}</td><td>{line(textOf(item.expected), 160)}</td>
            <td class="muted">{before ? line(`${textOf(before.input)} → ${textOf(before.expected)}`, 200) : ""}</td>
          </tr>
        ))}</tbody>
      </table>
      {rows.length > 200 && <p class="empty">The first 200 of {count(rows.length)} changes.</p>}
    </div>
  );
}

/** The first files of an item, to be saved. */
function Files({ item }: { item: Item }) {
  const files = filesOf(item, tenant.value);
  return (
    <>
      {files.slice(0, 10).map(({ name, href }, at) => <div key={at} class="small"><a href={href} download>{line(name, 60)}</a></div>)}
      {files.length > 10 && <div class="small muted">{count(files.length - 10)} more files</div>}
    </>
  );
}

function ItemTable({ items }: { items: Item[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Items">
      <table>
        <thead><tr><th scope="col">Id</th><th scope="col">Input</th><th scope="col">Expected</th><th scope="col">Tags</th><th scope="col">From</th></tr></thead>
        <tbody>{items.map((item, at) => (
          <tr key={item.item_id ?? at}>
            <td class="mono nowrap">{line(item.external_id ?? item.item_id ?? "", 24)}</td>
            <td>{line(textOf(item.input), 300)}<Files item={item} /></td><td>{line(textOf(item.expected), 300)}</td>
            <td>{line([...(item.tags ?? []), item.split ?? ""].filter(Boolean).join(", "), 60)}</td>
            <td>{item.source_trace_id && <TraceLink id={item.source_trace_id} span={item.source_span_id ?? null} />}</td>
          </tr>
        ))}</tbody>
      </table>
      {items.length >= PAGE && <p class="empty">The first {PAGE} items; <code>groundline dataset export</code> has all.</p>}
    </div>
  );
}
