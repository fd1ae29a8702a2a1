import { Component, type ComponentChildren } from "preact";

import { Button } from "./Button.tsx";
import { Notice } from "./Notice.tsx";
import { sentenceOf } from "./sentence-of.ts";

interface GuardProps {
  readonly children: ComponentChildren;
}

/** Shows an error of what it contains instead of an empty page. */
export class Guard extends Component<GuardProps, { readonly error: unknown }> {
  override state = { error: null };

  override componentDidCatch(error: unknown): void {
    // also for the console, with its stack
    reportError(error);
    this.setState({ error });
  }

  override render({ children }: GuardProps, { error }: { readonly error: unknown }) {
    if (error === null) {
      return children;
    }
    return (
      <Notice kind="problem">
        This part of the page failed: {sentenceOf(error)}{" "}
        <Button onClick={() => location.reload()}>Reload</Button>
      </Notice>
    );
  }
}
