import { type Signal, signal } from "@preact/signals";

import { ClientError, type QueuedExchangeInfo } from "../../../src/entries/client.ts";
import { isOwner, sending } from "../../api.ts";
import { sentenceOf } from "../../parts/sentence-of.ts";
import { newId } from "../../streams/new-id.ts";
import type { SessionModel } from "../model.ts";
import { isPassing } from "../problem.ts";
import { type Draft, keepDraft, readDraft } from "./draft.ts";

/** A sentence after something was sent. */
export interface Said {
  readonly kind: "hint" | "warning" | "problem";
  readonly sentence: string;
  /** A command that helps. */
  readonly command: string | null;
}

export interface Sender {
  readonly draft: Signal<Draft>;
  readonly isBusy: Signal<boolean>;
  readonly said: Signal<Said | null>;
  write(text: string): void;
  /**
   * Sends the draft. If the answer is lost, the draft stays with its key: sent again, it is stored once. With
   * `supersede`, open questions are withdrawn.
   */
  send(supersede?: boolean): Promise<void>;
  /** Continues what was interrupted or has failed, at this time or at once. */
  proceed(notBefore?: string): Promise<void>;
  stop(n: number): Promise<void>;
}

/** Sends what a person writes in a session. */
export function createSender(model: SessionModel): Sender {
  const { id } = model;
  const draft = signal(readDraft(id));
  const isBusy = signal(false);
  const said = signal<Said | null>(null);
  const change = (next: Draft): void => {
    draft.value = next;
    keepDraft(id, next);
  };
  const once = async (call: () => Promise<Said | null>): Promise<void> => {
    if (isBusy.peek()) {
      return;
    }
    isBusy.value = true;
    said.value = null;
    try {
      said.value = await call();
    } catch (error) {
      said.value = { kind: "problem", sentence: failureOf(error), command: null };
    } finally {
      isBusy.value = false;
    }
    await model.refresh();
  };
  return {
    draft,
    isBusy,
    said,
    write: (text) => change({ text, key: text === draft.peek().text ? draft.peek().key : null }),
    send: (supersede = false) =>
      once(async () => {
        const sent: Draft = { ...draft.peek(), key: draft.peek().key ?? newId() };
        if (sent.text.trim() === "") {
          return null;
        }
        // before the request: a reload in the middle must find the key
        change(sent);
        const found = await store(id, sent, supersede);
        // what was written meanwhile stays
        if (draft.peek().text === sent.text) {
          change({ text: "", key: null });
        }
        return found;
      }),
    proceed: (notBefore) =>
      once(async () => {
        const options = notBefore === undefined ? {} : { notBefore };
        return saidOf(await sending.queueExchange(id, null, options));
      }),
    // also while a message is sent: a stop that is pressed then must not be lost
    stop: async (n) => {
      try {
        await sending.stopExchange(id, n).catch(unlessEnded);
      } catch (error) {
        said.value = { kind: "problem", sentence: sentenceOf(error), command: null };
      }
      await model.refresh();
    },
  };
}

async function store(id: string, { text, key }: Draft, supersede: boolean): Promise<Said | null> {
  const idempotencyKey = key ?? newId();
  if (isOwner.peek()) {
    return sending
      .queueExchange(id, text, { idempotencyKey, supersede })
      .then(saidOf, storedBefore);
  }
  await sending.postMessage(id, text, { idempotencyKey });
  const sentence = "The message is stored. The agent gets it once a person with the token agrees.";
  return { kind: "hint", sentence, command: null };
}

function saidOf({ runnable, command, open_question }: QueuedExchangeInfo): Said | null {
  if (!runnable) {
    const sentence =
      "No service that runs now answers sessions of this folder. The message waits for one that does.";
    return { kind: "warning", sentence, command };
  }
  return open_question === null
    ? null
    : {
        kind: "hint",
        sentence: "The message waits for the answer to the question.",
        command: null,
      };
}

/** The answer to this message was lost, and it was sent again in another way: it is stored as it was first sent. */
function storedBefore(error: unknown): Said {
  if (error instanceof ClientError && error.code === "idempotency_key_reused") {
    const sentence = "The message was stored before, and waits in the queue.";
    return { kind: "hint", sentence, command: null };
  }
  throw error;
}

function failureOf(error: unknown): string {
  return isPassing(error)
    ? `${sentenceOf(error)} Your text is kept; sent again, it is stored once.`
    : sentenceOf(error);
}

/** It ended while the button was pressed: that is what was wanted. */
function unlessEnded(error: unknown): void {
  if (!(error instanceof ClientError && error.code === "exchange_ended")) {
    throw error;
  }
}
