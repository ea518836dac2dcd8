// A page that fails leaves the frame standing: the reader can go elsewhere, and say what happened.
import { Component, type ComponentChildren } from "preact";
import { visible } from "../lib/text";
import { CopyButton } from "./parts";

interface BoundaryProps {
  children: ComponentChildren;
}

export class Boundary extends Component<BoundaryProps, { wrong: string }> {
  override state = { wrong: "" };

  static override getDerivedStateFromError(error: unknown) {
    return { wrong: error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error) };
  }

  override render() {
    const { wrong } = this.state;
    if (wrong === "") return this.props.children;
    return (
      <main id="main" tabIndex={-1}>
        <div class="fault" role="alert">
          <strong>This page of the console has failed</strong>
          <p>{visible(wrong.slice(0, 1500))}</p>
          <div class="row"><CopyButton text={wrong} what="Report" /><a class="button" href="/">Start anew</a></div>
        </div>
      </main>
    );
  }
}
