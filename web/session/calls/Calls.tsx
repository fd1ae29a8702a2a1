import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { callVerb, exploringVerb, workText } from "../../../src/core/text/words.ts";
import { Button } from "../../parts/Button.tsx";
import { CallMark } from "./CallMark.tsx";
import { CallRow } from "./CallRow.tsx";
import { Ending } from "./Printed.tsx";
import { isReading, plural, readSummary, subjectOf } from "../call-text.ts";
import { Folded } from "../Folded.tsx";
import type { SessionModel } from "../model.ts";
import type { StoredCall } from "../rows.ts";
import { isFailed, stateOf } from "./call-state.ts";

/** Rows of one answer at first. */
const MAX_ROWS = 100;
/** Names of a group that its row shows. */
const MAX_NAMED = 12;

interface CallsProps {
  readonly model: SessionModel;
  /** The message that made them. */
  readonly seq: number;
  readonly calls: readonly StoredCall[];
}

/** Calls in their order; those that only read and follow each other are one group. */
export function Calls({ model, seq, calls }: CallsProps): JSX.Element {
  const segments = segmentsOf(calls);
  const isWhole = useSignal(false);
  return (
    <ul class="calls" aria-label="Tool calls">
      {(isWhole.value ? segments : segments.slice(0, MAX_ROWS)).map((segment) => {
        const [only] = segment;
        return only !== undefined && segment.length === 1 ? (
          <li key={only.call.id}>
            <CallRow
              model={model}
              stored={only}
              id={`call ${seq} ${only.call.id}`}
              group={groupId(seq, segment)}
            />
            <Ending model={model} stored={only} id={`call ${seq} ${only.call.id}`} />
          </li>
        ) : (
          <li key={only?.call.id}>
            <CallGroup model={model} seq={seq} calls={segment} />
          </li>
        );
      })}
      {isWhole.value || segments.length <= MAX_ROWS ? null : (
        <li>
          <Button kind="quiet" onClick={() => void (isWhole.value = true)}>
            Show {plural(segments.length - MAX_ROWS, "more call")}
          </Button>
        </li>
      )}
    </ul>
  );
}

function segmentsOf(calls: readonly StoredCall[]): StoredCall[][] {
  const segments: StoredCall[][] = [];
  for (const stored of calls) {
    const last = segments.at(-1);
    const previous = last?.at(-1);
    if (
      last !== undefined &&
      previous !== undefined &&
      isReading(previous.call) &&
      isReading(stored.call)
    ) {
      last.push(stored);
    } else {
      segments.push([stored]);
    }
  }
  return segments;
}

function groupId(seq: number, calls: readonly StoredCall[]): string {
  return `group ${seq} ${calls[0]?.call.id ?? ""}`;
}

function CallGroup({ model, seq, calls }: CallsProps): JSX.Element {
  const states = calls.map((stored) => stateOf(stored, model));
  const failed = states.filter(({ state }) => isFailed(state)).length;
  const isRunning = states.some(({ state }) => state === "running");
  const done = calls.filter((_, index) => states[index]?.state === "ok");
  const subjects = useMemo(() => [...new Set(calls.map(({ call }) => subjectOf(call)))], [calls]);
  const names = new Set(calls.map(({ call }) => call.name));
  const [name = ""] = names;
  const work = workText({ isRunning, took: "", steps: calls.length, failed });
  const state = isRunning ? "running" : done.length > 0 ? "ok" : failed > 0 ? "failed" : "unknown";
  return (
    <Folded
      model={model}
      id={groupId(seq, calls)}
      title={
        <span class={`call-line ${state}`}>
          <CallMark effect="reads" />
          <span class="call-verb" title={readSummary(calls.map(({ call }) => call))}>
            {names.size === 1 ? callVerb(name, state) : exploringVerb(isRunning)}
          </span>
          <code class="call-subject" dir="auto">
            {subjects.slice(0, MAX_NAMED).join(", ")}
            {subjects.length > MAX_NAMED ? ", …" : ""}
          </code>
          {work.failed === null ? null : <span class="call-reason">{work.failed}</span>}
          <span class="muted">{plural(calls.length, "call")}</span>
        </span>
      }
    >
      <ul class="calls">
        {calls.map((stored) => (
          <li key={stored.call.id}>
            <CallRow model={model} stored={stored} id={`call ${seq} ${stored.call.id}`} />
          </li>
        ))}
      </ul>
    </Folded>
  );
}
