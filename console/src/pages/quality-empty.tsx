// A server without a span: how to send one, with this server's own address, and a check that turns green.
import { useEffect, useRef } from "preact/hooks";
import type { Asked } from "../lib/hooks";
import { portOf, reachOf, server, ways } from "../lib/server";
import { me, refresh } from "../lib/store";
import { Empty } from "../ui/panel";
import { CopyButton } from "../ui/parts";

export function FirstSpan({ asked }: { asked: Asked<unknown> }) {
  const busy = useRef(asked.busy);
  busy.current = asked.busy;
  useEffect(() => {
    // The time range goes along, because the first span is younger than the page; a slow answer is waited for.
    const timer = setInterval(() => document.hidden || busy.current || refresh(), 3000);
    return () => clearInterval(timer);
  }, []);
  const port = portOf(server.value, /otlp.*http/i);
  const token = me.value?.needs_token === true;
  const reach = reachOf(server.value, location, token);
  return (
    <section class="panel">
      <Empty title="No span has arrived yet">
        <p>Send one to this server. The page goes on by itself when the first is here.</p>
        <p role="status" class="chip warn">waiting for the first span</p>
        {token && <p><code>GROUNDLINE_TOKEN</code> stands for a token with the role <code>ingest</code>: <code>groundline token new</code> makes one.</p>}
        {port === undefined && <p>4318 is the usual port; this server does not tell you which it has.</p>}
        {ways(reach, port ?? "4318").map(([name, text]) => (
          <div key={name} class="way">
            <div class="row"><h2>{name}</h2><CopyButton text={text} what={name} label="Copy" /></div>
            <pre class="code">{text}</pre>
          </div>
        ))}
      </Empty>
    </section>
  );
}
