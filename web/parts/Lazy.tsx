import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect } from "preact/hooks";

import { base } from "../route.ts";
import { connection } from "../streams/streams.ts";
import { Button } from "./Button.tsx";
import { Notice } from "./Notice.tsx";

type Load<Props> = () => Promise<ComponentType<Props>>;

/** A component that can be loaded before it is shown: it then has no `meanwhile`. */
export type LazyComponent<Props> = ComponentType<Props> & { readonly load: () => Promise<void> };

/**
 * A component whose code is loaded when it is first shown. If the service does not have it any more, a newer
 * version runs there, and the reader is asked to reload; if it did not answer, the code is loaded once it does.
 * `meanwhile` has its place until it is loaded.
 */
export function lazy<Props extends object>(
  load: Load<Props>,
  meanwhile: JSX.Element | null = <p class="loading">Loading …</p>,
): LazyComponent<Props> {
  let loaded: ComponentType<Props> | null = null;
  const loadOnce = async (): Promise<void> => {
    loaded ??= await load();
  };
  const Lazy = (props: Props): JSX.Element | null => {
    const component = useSignal(loaded);
    const problem = useSignal<string | null>(null);
    const attempt = (): void => {
      loadOnce().then(
        () => {
          component.value = loaded;
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
  return Object.assign(Lazy, { load: loadOnce });
}

async function answers(): Promise<boolean> {
  try {
    await fetch(base, { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}
