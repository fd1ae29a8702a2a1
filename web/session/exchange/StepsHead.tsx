import type { JSX } from "preact";

import { workText } from "../../../src/core/text/words.ts";
import { Icon } from "../../parts/icons.tsx";
import { lazy } from "../../parts/Lazy.tsx";
import { Running } from "../Running.tsx";
import { tookText } from "../call-text.ts";
import type { SessionModel } from "../model.ts";
import type { Card } from "./card.ts";

const ChangedLines = lazy(async () => (await import("./Foot.tsx")).ChangedLines, null);

/** Work that took less says no time. */
const MIN_TOOK_MS = 100;

interface StepsHeadProps {
  readonly model: SessionModel;
  readonly card: Card;
  readonly isOpen: boolean;
  readonly isRunning: boolean;
  readonly onToggle: () => void;
}

/** Says in one line what an exchange did, and opens and closes its steps. */
export function StepsHead({
  model,
  card,
  isOpen,
  isRunning,
  onToggle,
}: StepsHeadProps): JSX.Element {
  const { first, last, begun_at, ended_at } = card;
  const ms = Date.parse(ended_at) - Date.parse(begun_at);
  const took = isRunning || ms < MIN_TOOK_MS ? "" : tookText(ms);
  const { title, steps, failed } = workText({ ...card, isRunning, took });
  return (
    <article
      class="steps-head"
      aria-label={`Steps, messages ${first} to ${last}`}
      tabIndex={-1}
      {...(isOpen ? {} : { "data-seq": first })}
    >
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <Icon name={isOpen ? "open" : "closed"} />
        <strong>{title}</strong>
        {isRunning ? <Running since={begun_at} /> : null}
        <span class="muted">{steps}</span>
        {failed === null ? null : <span class="failed-count">{failed}</span>}
        <span class="space" />
        {card.mayChange && !isRunning ? <ChangedLines model={model} seq={last} /> : null}
      </button>
    </article>
  );
}
