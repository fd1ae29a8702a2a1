import type {
  CreateElicitationRequest,
  PermissionOption,
  PermissionOptionKind,
} from "@agentclientprotocol/sdk/unstable";

import { type Choice, type GivenReply, isHarmlessChoice, MAX_ANSWER } from "../core/questions.ts";
import type { QuestionInfo } from "../core/schemas/schemas.ts";
import { oneLine, visible } from "../core/text/terminal-text.ts";
import type { Client } from "./client.ts";
import { textContent } from "./tool-calls.ts";

/** A question as it is asked: of a session, or of a sub-agent of it. */
export type Asked = Pick<
  QuestionInfo,
  "id" | "session_id" | "call_id" | "kind" | "text" | "choices" | "permission"
>;

/** The field of a form that has the answer. */
const ANSWER = "answer";

interface AskingOptions {
  readonly client: Client;
  readonly sessionId: string;
  /** The id that the client knows a call by. */
  readonly toolCallId: (call_id: string) => string;
  /** Called with the person's answer. False if it could not be stored, so that the question stays open. Throws nothing. */
  readonly answer: (question: Asked, reply: GivenReply) => Promise<boolean>;
}

/**
 * Asks a client what a session asks, each question once. A question that ends elsewhere is taken back; one that the client does
 * not answer stays open, for a terminal or the page.
 */
export class Questions {
  readonly #options: AskingOptions;
  readonly #asked = new Map<string, AbortController>();
  readonly #left = new Set<string>();
  /** Questions that have ended: what was read before may still say that they are open. */
  readonly #over = new Set<string>();
  #changed = Promise.withResolvers<void>();

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** Resolves when a question is asked, answered, left or taken back after this call. */
  next(): Promise<void> {
    return this.#changed.promise;
  }

  /** True for a question that the client could not or did not answer. */
  isLeft(id: string): boolean {
    return this.#left.has(id);
  }

  /** Asks a question that is new here. */
  ask(question: Asked): void {
    const { id } = question;
    if (this.#asked.has(id) || this.#left.has(id) || this.#over.has(id)) {
      return;
    }
    const over = new AbortController();
    this.#asked.set(id, over);
    void this.#ask(question, over.signal).then((isAnswered) => {
      this.#asked.delete(id);
      if (!over.signal.aborted) {
        (isAnswered ? this.#over : this.#left).add(id);
      }
      this.#tell();
    });
    this.#tell();
  }

  /** Takes a question back that has ended. */
  end(id: string): void {
    this.#left.delete(id);
    this.#over.add(id);
    this.#asked.get(id)?.abort();
    this.#tell();
  }

  /** Takes all questions back, without an answer. */
  close(): void {
    for (const over of this.#asked.values()) {
      over.abort();
    }
  }

  async #ask(question: Asked, signal: AbortSignal): Promise<boolean> {
    const reply = await this.#reply(question, signal);
    if (reply === null || signal.aborted) {
      return false;
    }
    return this.#options.answer(question, reply);
  }

  async #reply(question: Asked, signal: AbortSignal): Promise<GivenReply | null> {
    const { client, sessionId, toolCallId } = this.#options;
    const { choices } = question;
    if (question.kind === "question" && client.facts.forms) {
      const answer = await client.askForm(formOf(question, this.#options), signal);
      const given = answer?.action === "accept" ? contentOf(answer) : undefined;
      return replyTo(choices, given);
    }
    if (choices === null) {
      // the person writes the answer as the next message
      await client.update(sessionId, {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: visible(question.text.toWellFormed()) },
      });
      return null;
    }
    const { kind, text, permission } = question;
    const answer = await client.askPermission(
      {
        sessionId,
        toolCall: {
          toolCallId: toolCallId(question.call_id),
          title: titleOf(question),
          status: "pending",
          content: [textContent(text)],
          ...(permission === null ? {} : { name: permission.tool }),
        },
        options: choices.map((choice) => optionOf(choice, kind === "question")),
      },
      signal,
    );
    const chosen = answer?.outcome.outcome === "selected" ? answer.outcome.optionId : undefined;
    return replyTo(choices, chosen);
  }

  #tell(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }
}

function titleOf({ permission, text }: Asked): string {
  const [line = ""] = text.split("\n", 1);
  const { tool, subject } = permission ?? {};
  return oneLine(tool === undefined ? line : [tool, subject ?? ""].join(" "));
}

/** Returns null unless it answers the question. */
function replyTo(choices: Asked["choices"], given: unknown): GivenReply | null {
  if (typeof given !== "string" || given === "") {
    return null;
  }
  if (choices === null) {
    return { text: given };
  }
  return choices.some(({ id }) => id === given) ? { choice: given } : null;
}

function optionOf(choice: Choice, isOffered: boolean): PermissionOption {
  const { id, label, meaning } = choice;
  return {
    optionId: id,
    name: oneLine(label),
    kind: isOffered ? "allow_once" : optionKind(choice),
    ...(meaning === null ? {} : { _meta: { meaning } }),
  };
}

/** Returns the kind: what keeps rules counts for longer, and `allow_each` only asks again. */
function optionKind({ id, lasting }: Choice): PermissionOptionKind {
  if (lasting !== null) {
    return "allow_always";
  }
  return isHarmlessChoice(id) && id !== "allow_each" ? "reject_once" : "allow_once";
}

function formOf(
  { text, choices, call_id }: Asked,
  { sessionId, toolCallId }: AskingOptions,
): CreateElicitationRequest {
  const options = choices?.map(({ id, label }) => ({ const: id, title: oneLine(label) }));
  const field =
    options === undefined
      ? { type: "string" as const, minLength: 1, maxLength: MAX_ANSWER }
      : { type: "string" as const, oneOf: options };
  return {
    mode: "form",
    sessionId,
    toolCallId: toolCallId(call_id),
    message: visible(text.toWellFormed()),
    requestedSchema: { type: "object", properties: { [ANSWER]: field }, required: [ANSWER] },
  };
}

/** The answer in a form that was accepted; a client may send anything. */
function contentOf(answer: object): unknown {
  const content: unknown = Reflect.get(answer, "content");
  return typeof content === "object" && content !== null ? Reflect.get(content, ANSWER) : undefined;
}
