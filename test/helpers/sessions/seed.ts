import { setTimeout } from "node:timers/promises";

import type { Session } from "../../../src/core/sessions.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { endSession, startThread } from "../../../src/store/records/sessions/change.ts";
import { createSession, type NewSession } from "../../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Home } from "../reprise.ts";

export interface Seed extends NewSession {
  /** User messages, oldest first. */
  readonly messages?: readonly string[];
  /** How many of them the clear action archives. */
  readonly archived?: number;
  readonly ended?: true;
}

/** Stores sessions in a home's database as the program itself would, in this order. */
export async function seed(home: Home, ...sessions: readonly Seed[]): Promise<Session[]> {
  await using store = await openSqliteStore({ path: home.database });
  const made: Session[] = [];
  for (const { messages = [], archived = 0, ended, ...columns } of sessions) {
    let session = await store.write(createSession, columns);
    const { id } = session;
    for (const [index, content] of messages.entries()) {
      if (index === archived && archived > 0) {
        await store.write(startThread, { id, archive: true });
      }
      ({ session } = await store.write(appendUserMessage, { reference: id, content }));
    }
    // times are milliseconds: the next session's activity is later than this one's
    await setTimeout(2);
    made.push(ended === undefined ? session : await store.write(endSession, { id }));
  }
  return made;
}

/** Stores a user message as the API does: the agent has not seen it. */
export async function append(home: Home, reference: string, content: string): Promise<void> {
  await using store = await openSqliteStore({ path: home.database });
  await store.write(appendUserMessage, { reference, content });
}

/** An id that begins with these characters: `idLike("aaaaaa1")`. */
export function idLike(start: string): string {
  const tail = "00000000-0000-4000-8000-000000000000";
  return start + tail.slice(start.length);
}

/** What `sessions show --json` and the HTTP API's detail hold, as far as tests look. */
export interface Detail {
  readonly id: string;
  readonly state: string;
  readonly activity: string;
  readonly title: string | null;
  readonly persona_name: string | null;
  readonly model: string | null;
  readonly repo_path: string | null;
  readonly project_key: string | null;
  readonly project_id: string | null;
  readonly plan_mode: boolean;
  readonly parent_session_id: string | null;
  readonly total_input_tokens: number;
  readonly last_seq: number;
  readonly last_message_at: string | null;
  readonly has_earlier: boolean;
  readonly messages: readonly {
    readonly seq: number;
    readonly role: string;
    readonly content: string;
    readonly tool_calls: unknown;
    readonly archived: boolean;
  }[];
}

/** A session with all its messages, archived ones too. */
export function detailOf(home: Home, id: string): Promise<Detail> {
  return home.json<Detail>(["sessions", "show", id, "--all", "--json"]);
}

/** `[seq, role, content]` of every message. */
export function rowsOf(detail: Detail): [number, string, string][] {
  return detail.messages.map(({ seq, role, content }) => [seq, role, content]);
}

export function sessionsOf(home: Home): Promise<Detail[]> {
  return home.json<Detail[]>(["sessions", "list", "--limit", "all", "--json"]);
}
