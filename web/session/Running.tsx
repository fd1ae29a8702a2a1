import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { secondsText } from "./call-text.ts";

/** The time of now, while somebody shows it. */
const now = signal(Date.now());
let shown = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** How long something runs, in seconds that count. Screen readers do not hear it. */
export function Running({ since }: { readonly since: string }): JSX.Element {
  useEffect(tick, []);
  return (
    <span class="muted" aria-hidden="true">
      {secondsText(now.value - Date.parse(since))}
    </span>
  );
}

/** How long until something happens, in seconds that count down. */
export function Until({ at }: { readonly at: string }): JSX.Element {
  useEffect(tick, []);
  return <span aria-hidden="true">{secondsText(Date.parse(at) - now.value)}</span>;
}

function tick(): () => void {
  shown += 1;
  now.value = Date.now();
  timer ??= setInterval(() => {
    now.value = Date.now();
  }, 1000);
  return () => {
    shown -= 1;
    if (shown === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}
