import { expect } from "vitest";

import type { Role } from "../../src/core/sessions.ts";

/** What the model knows of one message; the text of an answer is the agent's business. */
interface ModelMessage {
  readonly role: Role;
  readonly content: string | null;
  archived: boolean;
}

/** One session as SPEC.md's state table has it. */
export interface ModelSession {
  readonly id: string;
  readonly depth: number;
  readonly parent: ModelSession | null;
  ended: boolean;
  suffix: number;
  messages: ModelMessage[];
  /** Messages from the API that wait for the agent. */
  pending: number;
  /** A process died in it since its last whole exchange: it may have stored more or less. */
  crashed: boolean;
}

export class StateModel {
  readonly sessions: ModelSession[] = [];

  create(id: string, parent: ModelSession | null): void {
    this.sessions.push({
      id,
      parent,
      depth: parent === null ? 0 : parent.depth + 1,
      ended: false,
      suffix: 0,
      messages: [],
      pending: 0,
      crashed: false,
    });
  }

  pick(index: number): ModelSession | null {
    return this.sessions[index % Math.max(1, this.sessions.length)] ?? null;
  }

  append(session: ModelSession, content: string): void {
    session.messages.push({ role: "user", content, archived: false });
    session.pending += 1;
  }

  exchange(session: ModelSession, content: string | null): void {
    if (content !== null) {
      session.messages.push({ role: "user", content, archived: false });
    }
    session.messages.push({ role: "assistant", content: null, archived: false });
    session.pending = 0;
    session.crashed = false;
  }

  freshThread(session: ModelSession, archive: boolean): void {
    session.suffix += 1;
    if (archive) {
      session.pending = 0;
      session.crashed = false;
      for (const message of session.messages) {
        message.archived = true;
      }
    }
  }

  end(session: ModelSession): void {
    session.ended = true;
    for (const child of this.sessions.filter(({ parent, ended }) => parent === session && !ended)) {
      this.end(child);
    }
  }

  /** After a crash: the rows so far and at most the exchange's own two after them. */
  adopt(session: ModelSession, rows: readonly { role: Role; content: string }[]): void {
    const added = rows.slice(session.messages.length);
    expect(added.map(({ role }) => role)).toEqual(["user", "assistant"].slice(0, added.length));
    session.messages.push(
      ...added.map(({ role, content }) => ({
        role,
        content: role === "user" ? content : null,
        archived: false,
      })),
    );
    session.crashed = true;
  }

  /** After continuing what had crashed: at most an answer more. */
  adoptAnswer(session: ModelSession, rows: readonly { role: Role }[]): void {
    const added = rows.slice(session.messages.length);
    expect(added.map(({ role }) => role)).toEqual(["assistant"].slice(0, added.length));
    session.messages.push(
      ...added.map(() => ({ role: "assistant" as const, content: null, archived: false })),
    );
    // what was appended meanwhile waited after what was cut, or went with it
    session.crashed = session.pending > 0;
  }
}
