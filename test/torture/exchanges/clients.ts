import { setTimeout as sleep } from "node:timers/promises";

import type { Choice } from "../../../src/core/questions.ts";
import type { ExchangeInfo } from "../../../src/core/schemas/schemas.ts";
import { type Node, type Nodes, TOKEN } from "./nodes.ts";
import type { QuestionRow } from "./rows.ts";
import { KINDS, type Kind, textOf } from "./script.ts";

/** A message that was posted, and what its sender knows of it. */
export interface Sent {
  readonly session_id: string;
  readonly tag: string;
  readonly kind: Kind;
  readonly n: number;
  /** True if it stops an exchange of its session that waits for a person. */
  readonly supersedes: boolean;
  /** The versions of its text that may count: several if nobody knows whether a change came in time. */
  versions: readonly number[];
  /** `maybe` if the answer to the request was lost. */
  withdrawn: "no" | "maybe" | "yes";
  stopped: "no" | "maybe" | "yes";
}

/** An answer that was sent, which its note names, and what its sender knows of it. */
export interface Reply {
  readonly question: string;
  readonly note: string;
  readonly answer: string;
  /** `maybe` if the answer to the request was lost, and a later one said that there is an answer. */
  counts: "no" | "maybe" | "yes";
}

interface Received {
  readonly status: number;
  readonly body: ExchangeInfo & { readonly code?: string };
  /** False if an earlier attempt may have done it already. */
  readonly isFirst: boolean;
}

interface Sending {
  /** The node that is asked first. */
  readonly first?: Node | undefined;
  readonly kinds?: readonly Kind[] | undefined;
}

/** Senders of messages and answers. What gets no answer because its node died is sent again to another one. */
export class Clients {
  readonly sent: Sent[] = [];
  readonly replies: Reply[] = [];
  readonly #nodes: Nodes;
  readonly #random: () => number;
  #count = 0;
  #isOver = false;

  constructor(nodes: Nodes, random: () => number) {
    this.#nodes = nodes;
    this.#random = random;
  }

  /** From here on nothing is sent. */
  close(): void {
    this.#isOver = true;
  }

  /** Posts a message, and sometimes changes, withdraws or stops it soon after. */
  async send(session_id: string, { first, kinds = KINDS }: Sending = {}): Promise<void> {
    this.#count += 1;
    const tag = `m${this.#count}`;
    const kind = kinds[Math.floor(this.#random() * kinds.length)] ?? "plain";
    const luck = this.#random();
    const supersedes = luck > 0.92;
    const path = `/api/sessions/${session_id}/exchanges`;
    const content = { content: textOf({ tag, version: 1, kind }), supersede: supersedes };
    const { status, body } = await this.#request("POST", path, content, { key: tag, first });
    if (status !== 202) {
      throw new Error(`posting ${tag} gave ${status} ${body.code}`);
    }
    const { n } = body;
    const sent: Sent = {
      session_id,
      tag,
      kind,
      n,
      supersedes,
      versions: [1],
      withdrawn: "no",
      stopped: "no",
    };
    this.sent.push(sent);
    if (luck < 0.15) {
      await this.#change(sent, `${path}/${n}`);
    } else if (luck < 0.2) {
      await this.#withdraw(sent, `${path}/${n}`);
    } else if (luck < 0.26) {
      await sleep(this.#random() * 100);
      await this.#stop(sent, `${path}/${n}/stop`);
    }
  }

  /** Continues what a failed exchange has left; null if nothing is left of it. */
  async continueFailed({ session_id, tag }: Sent): Promise<number | null> {
    const path = `/api/sessions/${session_id}/exchanges`;
    const { status, body } = await this.#request("POST", path, {}, { key: `${tag}-again` });
    if (status === 409 && body.code === "nothing_to_continue") {
      return null;
    }
    if (status !== 202) {
      throw new Error(`continuing ${tag} gave ${status} ${body.code}`);
    }
    return body.n;
  }

  /** Answers a question, twice at once now and then. */
  async answer(question: Pick<QuestionRow, "id" | "session_id" | "choices">, first?: Node) {
    const senders = this.#random() < 0.2 ? [first, undefined] : [first];
    await Promise.all(senders.map((each) => this.#answer(question, each)));
  }

  async #answer(
    { id, session_id, choices }: Parameters<Clients["answer"]>[0],
    first: Node | undefined,
  ): Promise<void> {
    const note = `by ${this.replies.length}`;
    const allowed =
      choices === null
        ? [`reply ${note}`]
        : (JSON.parse(choices) as readonly Choice[]).map(({ id }) => id);
    const answer = allowed[Math.floor(this.#random() * allowed.length)] ?? "";
    const reply: Reply = { question: id, note, answer, counts: "maybe" };
    this.replies.push(reply);
    const path = `/api/sessions/${session_id}/questions/${id}/answer`;
    const { status, body, isFirst } = await this.#request(
      "POST",
      path,
      { ...(choices === null ? { text: answer } : { choice: answer }), note },
      { first },
    );
    this.#expectOne(status, body.code, "question_answered", "question_withdrawn");
    reply.counts = status === 200 ? "yes" : isFirst ? "no" : "maybe";
  }

  async #change(sent: Sent, path: string): Promise<void> {
    const { tag, kind } = sent;
    const content = textOf({ tag, version: 2, kind });
    const { status, body, isFirst } = await this.#request("PATCH", path, { content });
    this.#expectOne(status, body.code, "exchange_begun");
    if (status === 200) {
      sent.versions = [2];
    } else if (!isFirst) {
      sent.versions = [1, 2];
    }
  }

  async #withdraw(sent: Sent, path: string): Promise<void> {
    const { status, body, isFirst } = await this.#request("DELETE", path);
    this.#expectOne(status, body.code, "exchange_begun");
    sent.withdrawn = status === 200 ? "yes" : isFirst ? "no" : "maybe";
  }

  async #stop(sent: Sent, path: string): Promise<void> {
    const { status, body, isFirst } = await this.#request("POST", path, {});
    this.#expectOne(status, body.code, "exchange_ended");
    sent.stopped = status === 200 ? "yes" : isFirst ? "no" : "maybe";
    if (status === 200) {
      const holder = body.state === "running" ? await this.#nodes.holderOf(sent.session_id) : null;
      this.#nodes.stopped.set(sent.tag, holder);
    }
  }

  #expectOne(status: number, code = "", ...refusals: readonly string[]): void {
    if (status !== 200 && !(status === 409 && refusals.includes(code))) {
      throw new Error(`unexpected ${status} ${code}`);
    }
  }

  async #request(
    method: string,
    path: string,
    body?: object,
    { key, first }: { readonly key?: string; readonly first?: Node | undefined } = {},
  ): Promise<Received> {
    for (let attempt = 0; !this.#isOver; attempt += 1) {
      const { alive } = this.#nodes;
      const node =
        attempt === 0 && first !== undefined
          ? first
          : alive[Math.floor(this.#random() * alive.length)];
      try {
        const response = await fetch(`${node?.url ?? "http://127.0.0.1:1"}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${TOKEN}`,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...(key === undefined ? {} : { "idempotency-key": key }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const json = (await response.json()) as Received["body"];
        // a node that stops refuses with 503
        if (response.status !== 503) {
          return { status: response.status, body: json, isFirst: attempt === 0 };
        }
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof SyntaxError)) {
          throw error;
        }
      }
      await sleep(20);
    }
    throw new Error("the torture is over");
  }
}
