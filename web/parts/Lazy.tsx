import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect } from "preact/hooks";

import { base } from "../route.ts";
import { connection } from "../streams/streams.ts";
import { Button } from "./Button.tsx";
import { Notice } from "./Notice.tsx";

type Load<Props> = () => Promise<ComponentType<Props>>;

/**
 * A component whose code is loaded when it is first shown. If the service does not have it any more, a newer
 * version runs there, and the reader is asked to reload; if it did not answer, the code is loaded once it does.
 * `meanwhile` has its place until it is loaded.
 */
export function lazy<Props extends object>(
  load: Load<Props>,
  meanwhile: JSX.Element | null = <p class="loading">Loading …</p>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props): JSX.Element | null {
    const component = useSignal(loaded);
    const problem = useSignal<string | null>(null);
    const attempt = (): void => {
      load().then(
        (found) => {
          loaded = found;
          component.value = found;
        },
        async () => {
          problem.value = (await answers())
            ? "A new version is running: reload."
            : "The service does not answer. Reload the page when it runs again.";
        },
      );
    };
    useEffect(attempt, []);
    useSignalEffect(() => {
      if (connection.value?.kind === "live" && problem.peek() !== null) {
        attempt();
      }
    });
    const Component = component.value;
    if (Component !== null) {
      return <Component {...props} />;
    }
    return problem.value === null ? (
      meanwhile
    ) : (
      <Notice kind="problem">
        {problem.value} <Button onClick={() => location.reload()}>Reload</Button>
      </Notice>
    );
  };
}

async function answers(): Promise<boolean> {
  try {
    await fetch(base, { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}
