import type { FileChangeInfo } from "../../core/schemas/file-change-schemas.ts";
import type { SessionLabels } from "../../core/labels.ts";
import type { Usage } from "../../core/cost/model-calls.ts";
import type { ExchangeRecord, Session } from "../../core/sessions.ts";
import {
  listExchangesWithUsage,
  type QueuedMessage,
  readQueuedMessages,
} from "../../store/records/exchanges/read.ts";
import { readUnsent, type UnsentMessage } from "../../store/records/exchanges/unsent.ts";
import type { Detail } from "../../store/records/messages/read.ts";
import { listOpenQuestions, type OpenQuestion } from "../../store/records/questions/read.ts";
import { type Consent, readConsents } from "../../store/records/sessions/consents.ts";
import { listSessions } from "../../store/records/sessions/list.ts";
import { usageOfSession } from "../../store/records/model-calls/read-usage.ts";
import { readLimits, type SessionLimits } from "../../store/records/sessions/limits.ts";
import { readUnconfirmed, type Unconfirmed } from "../../store/records/messages/unconfirmed.ts";
import { type ChangeReading, readChanges } from "./read-changes.ts";
import { resumeCommand, sendCommandLine } from "../process/resume-command.ts";
import { type Failures, failuresOf } from "./table.ts";

/** An exchange, and what its requests of models have used. */
export interface ShownExchange {
  readonly record: ExchangeRecord;
  readonly usage: Usage;
}

/** All that a person sees of a session. */
export interface ShownSession extends Detail {
  readonly labels: SessionLabels | undefined;
  readonly children: readonly Session[];
  readonly failures: Failures;
  readonly unconfirmed: Unconfirmed;
  readonly exchanges: readonly ShownExchange[];
  /** Messages with one more than is shown, if there are more. */
  readonly queued: readonly QueuedMessage[];
  readonly unsent: readonly UnsentMessage[];
  /** Commands that send such a message again: with its text, and with an editor that has the last one. */
  readonly sendAgain: { readonly send: string; readonly resume: string };
  readonly limits: SessionLimits;
  readonly usage: Usage;
  readonly questions: readonly OpenQuestion[];
  readonly consents: readonly Consent[];
  /** By the id of the call. */
  readonly changes: ReadonlyMap<string, readonly FileChangeInfo[]>;
  /** What the model thought, by the id of the message; null if nobody asked for it. */
  readonly reasoning: ReadonlyMap<string, string> | null;
  /** True if their diffs are left out, because the config cannot be read. */
  readonly withheld: boolean;
}

/** Sub-agents that the heading names, the latest first. */
const CHILDREN_SHOWN = 50;
/** Exchanges that the heading names, the latest first. */
const EXCHANGES_SHOWN = 5;
/** Consents that are shown, the latest ones. */
const CONSENTS_SHOWN = 20;
/** Queued messages that are shown, the first ones. */
export const QUEUED_SHOWN = 20;
/** Messages that were not sent that are shown, the last ones. */
const UNSENT_SHOWN = 20;

/** Choice of what is shown besides the messages. `all`: also messages that were not sent, before others that were. */
export async function readShown(
  reading: ChangeReading,
  detail: Detail,
  {
    labels,
    all,
    reasoning = null,
  }: Pick<ShownSession, "labels"> &
    Partial<Pick<ShownSession, "reasoning">> & { readonly all: boolean },
): Promise<ShownSession> {
  const { cli, command, store } = reading;
  const { session, messages } = detail;
  const session_id = session.id;
  const { sessions: children } = await store.read(listSessions, {
    limit: CHILDREN_SHOWN,
    parent_session_id: session_id,
  });
  return {
    ...detail,
    labels,
    reasoning,
    children,
    failures: await failuresOf(store, [session, ...children]),
    unconfirmed: await store.read(readUnconfirmed, {
      session_id,
      from_seq: messages[0]?.seq ?? 0,
      through_seq: messages.at(-1)?.seq ?? 0,
    }),
    exchanges: await store.read(listExchangesWithUsage, {
      reference: session_id,
      limit: EXCHANGES_SHOWN,
    }),
    queued: await store.read(readQueuedMessages, { session_id, limit: QUEUED_SHOWN + 1 }),
    unsent: await store.read(readUnsent, { session_id, all, limit: UNSENT_SHOWN }),
    sendAgain: {
      send: sendCommandLine(cli, command, session_id),
      resume: resumeCommand(cli, command, session_id),
    },
    limits: await store.read(readLimits, session),
    usage: await store.read((tx) => usageOfSession(tx, session_id), null),
    questions: await store.read(listOpenQuestions, { reference: session_id }),
    consents: await store.read(readConsents, { session_id, limit: CONSENTS_SHOWN }),
    ...(await readChangesOfCalls(reading, detail)),
  };
}

async function readChangesOfCalls(reading: ChangeReading, { session, messages }: Detail) {
  const { changesOfCalls } = await import("../../exchange/undo/show-changes.ts");
  const calls = {
    session_id: session.id,
    call_ids: messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id)),
  };
  return readChanges(reading, (source) => changesOfCalls(source, calls));
}
