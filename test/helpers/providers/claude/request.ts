import type { Body } from "../rules.ts";

/** A block of a request, of any type. */
export type Block = Readonly<Record<string, unknown>> & { readonly type?: string };

export interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

/** The part of a request that the mock reads; `broken` of the API has checked its shape. */
export interface MessagesBody {
  readonly model: string;
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly system?: string | readonly Block[];
  readonly tools?: readonly Block[];
  readonly messages: readonly Message[];
  readonly cache_control?: CacheMark;
  readonly tool_choice?: { readonly type: string };
  readonly output_config?: { readonly effort?: string };
  readonly thinking?: {
    readonly type: string;
    readonly display?: string;
    readonly block_binding?: { readonly prefix_mismatch_behavior?: string };
  };
}

export interface CacheMark {
  readonly type: string;
  readonly ttl?: string;
}

/** A block with its place in the prompt. */
export interface Placed {
  readonly in: "tools" | "system" | "messages";
  /** As error messages name it. */
  readonly path: string;
  /** Index of its message; -1 outside of messages. */
  readonly message: number;
  readonly role: string;
  readonly block: Block;
}

export function messagesBody(body: Body): MessagesBody {
  return body as unknown as MessagesBody;
}

/** The blocks of a request's prompt, as `blocksOf`. */
export function placedIn(body: Body): Placed[] {
  return blocksOf(messagesBody(body));
}

export function contentOf(content: string | readonly Block[] | undefined): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

/** The blocks of a prompt in the order in which the model reads them. */
export function blocksOf({ tools = [], system, messages }: MessagesBody): Placed[] {
  return [
    ...tools.map((block, at) => place("tools", `tools.${at}`, block)),
    ...contentOf(system).map((block, at) => place("system", `system.${at}`, block)),
    ...messages.flatMap(({ role, content }, message) =>
      contentOf(content).map((block, at) => ({
        ...place("messages", `messages.${message}.content.${at}`, block),
        message,
        role,
      })),
    ),
  ];
}

function place(name: Placed["in"], path: string, block: Block): Placed {
  return { in: name, path, message: -1, role: "", block };
}

export function isThinking({ type }: Block): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** A block without cache marks and with its fields in one order: neither is a part of the prompt. */
export function canonical(block: Block): string {
  return JSON.stringify(block, (key, value: unknown) =>
    key === "cache_control"
      ? undefined
      : typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
  );
}
