// A token opens a session; the token itself is in no address, storage or log.
import { useState } from "preact/hooks";
import { Fault, postJson } from "../lib/api";
import { Logo } from "./icons";

export function Login({ done }: { done: () => void }) {
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = String(new FormData(form).get("token") ?? "").trim();
    if (token === "") return;
    setBusy(true);
    try {
      await postJson("/login", { token });
      form.reset();
      done();
    } catch (error) {
      setWrong(sentence(error));
    }
    setBusy(false);
  };
  return (
    <main class="login" id="main">
      <h1 class="row"><Logo /> Groundline</h1>
      <form class="panel" onSubmit={(event) => void submit(event)}>
        <p>This server asks for a token. It needs the role <code>query</code>, <code>review</code> or <code>admin</code>.</p>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" autofocus required />
        <button type="submit" class="primary" disabled={busy}>Log in</button>
        {wrong && <p class="bad" role="alert">{wrong}</p>}
      </form>
      <p class="muted small">The token goes to this server once and is not kept in the browser.</p>
    </main>
  );
}

function sentence(error: unknown): string {
  if (!(error instanceof Fault)) return String(error);
  if (error.kind === "login") return "This token is not known here, or it has ended.";
  if (error.kind === "busy") return `Too many tries. Wait ${error.retryAfter || 60} s.`;
  return error.message;
}
