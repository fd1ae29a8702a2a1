import type { JSX, TargetedKeyboardEvent } from "preact";
import { useMemo } from "preact/hooks";

import type { ExchangeInfo } from "../../../src/entries/client.ts";
import { isOwner, whoami } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/CopyButton.tsx";
import { Notice } from "../../parts/Notice.tsx";
import { localTime } from "../../parts/local-time.ts";
import { isAhead } from "../exchange-text.ts";
import type { SessionModel } from "../model.ts";
import { MayNot } from "./Rights.tsx";
import { Queue, Unsent } from "./later.ts";
import { createSender, type Sender } from "./sender.ts";

/** Where it is written, and what stops an exchange. The element that `focusComposer` gives the focus to. */
const COMPOSER_ID = "composer";
const MAX_ROWS = 12;

/** Puts the focus into the field of the message, if the page has it. */
export function focusComposer(): void {
  document.getElementById(COMPOSER_ID)?.focus();
}

/** Writes to the agent: a message, the queue of those that wait, stop and continue. */
export function Composer({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const sender = useMemo(() => createSender(model), [model]);
  const session = model.session.value;
  const role = whoami.value?.role;
  if (session === null || session.state === "ended" || role === undefined) {
    return null;
  }
  if (role === "reader" || role === "visitor") {
    return <MayNot what="write to the agent" />;
  }
  return (
    <div class="composer">
      <Outcome model={model} sender={sender} />
      {isOwner.value && hasQueue(model) ? <Queue model={model} /> : null}
      {session.parent_session_id !== null && isOwner.value ? (
        <p class="muted">The agent of the parent session writes to this one.</p>
      ) : (
        <>
          {(isOwner.value ? failedEarly(model) : []).map((n) => (
            <Unsent key={n} model={model} n={n} onEdit={(text) => writeAgain(sender, text)} />
          ))}
          <Editor model={model} sender={sender} />
        </>
      )}
    </div>
  );
}

/** Puts a text into the composer, after what is written there. */
function writeAgain(sender: Sender, text: string): void {
  const { text: written } = sender.draft.peek();
  sender.write(written.trim() === "" ? text : `${written}\n\n${text}`);
  focusComposer();
}

/** The latest exchanges, in their order, if they failed before they began: their messages are nowhere else. */
function failedEarly({ exchanges }: SessionModel): number[] {
  const latest = exchanges.value ?? [];
  const end = latest.findIndex(({ state, first_seq }) => state !== "failed" || first_seq !== null);
  const failed = end === -1 ? latest : latest.slice(0, end);
  return failed.map(({ n }) => n).toReversed();
}

function hasQueue({ exchanges }: SessionModel): boolean {
  return exchanges.value?.some(({ state }) => state === "queued") ?? false;
}

interface EditorProps {
  readonly model: SessionModel;
  readonly sender: Sender;
}

function Editor({ model, sender }: EditorProps): JSX.Element {
  const { text } = sender.draft.value;
  const { exchange = null, questions = [] } = model.live.value ?? {};
  const isEmpty = text.trim() === "";
  const running = exchange?.state === "running" ? exchange.n : null;
  const waiting = exchange?.state === "waiting" && questions.length > 0;
  const send = (): void => void sender.send();
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.isComposing) {
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && running !== null && isOwner.peek()) {
      event.preventDefault();
      void sender.stop(running);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="visually-hidden" for={COMPOSER_ID}>
        {isOwner.value ? "Message to the agent" : "Message to leave"}
      </label>
      <textarea
        id={COMPOSER_ID}
        dir="auto"
        rows={Math.min(MAX_ROWS, Math.max(2, text.split("\n").length))}
        value={text}
        placeholder={isOwner.value ? "Message to the agent" : "Leave a message"}
        aria-describedby={`${COMPOSER_ID}-keys`}
        onInput={({ currentTarget: { value } }) => sender.write(value)}
        onKeyDown={onKeyDown}
      />
      <div class="composer-actions">
        <span class="muted" id={`${COMPOSER_ID}-keys`}>
          {isOwner.value
            ? "Enter sends, Shift-Enter begins a line"
            : "Without a login, a message waits for a person’s yes."}
        </span>
        <span class="space" />
        {isOwner.value && running !== null ? (
          <Button onClick={() => void sender.stop(running)}>Stop</Button>
        ) : null}
        {isOwner.value && exchange !== null ? (
          <Continue exchange={exchange} sender={sender} />
        ) : null}
        {isOwner.value && waiting ? (
          <Button
            disabled={isEmpty || sender.isBusy.value}
            onClick={() => void sender.send(true)}
            title="Withdraws the open questions"
          >
            Send instead of answering
          </Button>
        ) : null}
        <Button kind="primary" type="submit" disabled={isEmpty || sender.isBusy.value}>
          {isOwner.value ? (running === null && !waiting ? "Send" : "Queue") : "Leave it"}
        </Button>
      </div>
    </form>
  );
}

interface ContinueProps {
  readonly exchange: ExchangeInfo;
  readonly sender: Sender;
}

/** Continues what was interrupted, or what has failed at a limit, which may be over later. */
function Continue({ exchange, sender }: ContinueProps): JSX.Element | null {
  const { state, resets_at } = exchange;
  const isLimited = state === "failed" && resets_at !== null;
  if (state !== "interrupted" && !isLimited) {
    return null;
  }
  const now = new Date();
  const disabled = sender.isBusy.value;
  return (
    <>
      {isLimited && isAhead(resets_at, now) ? (
        <Button
          disabled={disabled}
          onClick={() => void sender.proceed(resets_at)}
          title="The limit of the provider is over then"
        >
          Continue at {localTime(resets_at, now)}
        </Button>
      ) : null}
      <Button disabled={disabled} onClick={() => void sender.proceed()}>
        {isLimited ? "Continue now" : "Continue"}
      </Button>
    </>
  );
}

/** What became of the last message. A command that would run it goes once it runs. */
function Outcome({ model, sender }: EditorProps): JSX.Element {
  const last = sender.said.value;
  const said = last === null || (last.command !== null && !hasQueue(model)) ? null : last;
  return (
    <div aria-live="polite">
      {said === null ? null : (
        <Notice kind={said.kind}>
          <span>{said.sentence}</span>
          {said.command === null ? null : (
            <>
              <code>{said.command}</code>
              <CopyButton text={said.command} label="Copy the command" />
            </>
          )}
        </Notice>
      )}
    </div>
  );
}
