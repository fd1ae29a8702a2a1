import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { callVerb } from "../../../src/core/text/words.ts";
import { commandNotes } from "../../../src/entries/client.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/CopyButton.tsx";
import { lazy } from "../../parts/Lazy.tsx";
import { Link } from "../../parts/Link.tsx";
import { visibleText } from "../act/visible-text.ts";
import { CallMark } from "./CallMark.tsx";
import { stateOf } from "./call-state.ts";
import { argumentsText, subjectOf, tookText, type ToolCall } from "../call-text.ts";
import { Folded } from "../Folded.tsx";
import type { SessionModel } from "../model.ts";
import { Running } from "../Running.tsx";
import type { StoredCall } from "../rows.ts";
import { childOf } from "./sub-agents.ts";

const CallDiffs = lazy(async () => (await import("./CallDiffs.tsx")).CallDiffs);

/** Lines of an output that are shown at first, and characters. */
const LINES_SHOWN = 400;
const CHARACTERS_SHOWN = 200_000;
/** Characters of a name: a model may invent one. */
const NAME_SHOWN = 100;
/** A call that took less says no time. */
const MIN_TOOK_MS = 100;

interface CallRowProps {
  readonly model: SessionModel;
  readonly stored: StoredCall;
  readonly id: string;
  readonly group?: string;
}

/** A call of a tool in one line; opened, with its arguments, what it changed and what it returned. */
export function CallRow({ model, stored, id, group = id }: CallRowProps): JSX.Element {
  const { call, asked_at, result } = stored;
  const { state, reason, took } = stateOf(stored, model);
  // arguments may be large, and the row is drawn 10 times a second while an answer arrives
  const subject = useMemo(() => subjectOf(call), [call]);
  const child = call.effect === "asks" ? childOf(stored, model.children.value) : null;
  return (
    <Folded
      model={model}
      id={id}
      group={group}
      title={
        <span class={`call-line ${state}`}>
          <CallMark effect={call.effect} />
          <span class="call-verb">
            <bdi>{callVerb(call.name.slice(0, NAME_SHOWN), state)}</bdi>
          </span>
          <code class="call-subject" dir="auto">
            {subject}
          </code>
          {reason === "" ? null : <span class="call-reason">{reason}</span>}
          {notesOf(stored).map((note) => (
            <span class="call-note" dir="auto" key={note}>
              {visibleText(note)}
            </span>
          ))}
          {state === "running" ? <Running since={asked_at} /> : null}
          {state !== "running" && took !== null && took >= MIN_TOOK_MS ? (
            <span class="muted">{tookText(took)}</span>
          ) : null}
        </span>
      }
    >
      {child === null ? null : (
        <p>
          Sub-agent:{" "}
          <Link to={`/sessions/${child.id}`}>
            <bdi>{child.name ?? child.title ?? child.id}</bdi>
          </Link>{" "}
          <span class="muted">{child.exchange?.state ?? child.activity}</span>
        </p>
      )}
      <div class="part-title">
        Arguments of{" "}
        <code>
          <bdi>{call.name.slice(0, NAME_SHOWN)}</bdi>
        </code>
      </div>
      <Output text={argumentsText(call.args)} />
      {mayChange(call) && result !== null && result !== undefined ? (
        <CallDiffs model={model} seq={result.seq} call={call.id} />
      ) : null}
      <div class="part-title">Result</div>
      {result === undefined || result === null ? (
        <p class="muted">{state === "running" ? "It still runs." : "There is no result."}</p>
      ) : (
        <Output text={result.content} />
      )}
    </Folded>
  );
}

/** What a person has to know of a command, also if the row stays closed. */
function notesOf({ call, result }: StoredCall): readonly string[] {
  return call.effect === "runs" ? commandNotes(result?.content ?? "") : [];
}

function mayChange({ effect }: ToolCall): boolean {
  return effect === "changes" || effect === "runs";
}

/** Lines of a program or a tool: text alone, cut at first. */
function Output({ text }: { readonly text: string }): JSX.Element {
  const isWhole = useSignal(false);
  const { shown, lines } = useMemo(() => cut(text), [text]);
  const body = isWhole.value ? text : shown;
  return (
    <div class="output">
      <pre tabIndex={0} dir="auto">
        {body === "" ? "(empty)" : body}
      </pre>
      <div class="message-tools">
        <CopyButton text={text} label="Copy this text" />
        {body.length < text.length ? (
          <Button kind="quiet" onClick={() => void (isWhole.value = true)}>
            Show all {lines.toLocaleString("en")} lines
          </Button>
        ) : null}
      </div>
    </div>
  );
}

function cut(text: string): { readonly shown: string; readonly lines: number } {
  let lines = 1;
  let end = text.length;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (lines === LINES_SHOWN) {
      end = at;
    }
    lines += 1;
  }
  return { shown: text.slice(0, Math.min(end, CHARACTERS_SHOWN)), lines };
}
