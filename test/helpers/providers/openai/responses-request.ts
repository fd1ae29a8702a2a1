import type { Body } from "../rules.ts";
import { digest, openSeal, seal } from "../seals.ts";
import { bindsReasoning } from "./models.ts";
import { PrefixCache } from "./prefix-cache.ts";

/** An item of a conversation, of any type. */
export type Item = Readonly<Record<string, unknown>> & {
  readonly type?: string;
  readonly id?: string;
  readonly call_id?: string;
};

/** The part of a request that the mock reads. */
export interface ResponsesBody {
  readonly model: string;
  readonly input: string | readonly Item[];
  readonly instructions?: string | null;
  readonly tools?: readonly { readonly name?: string }[];
  readonly store?: boolean | null;
  readonly include?: readonly string[];
  readonly previous_response_id?: string | null;
  readonly reasoning?: { readonly effort?: string; readonly summary?: string };
  readonly text?: { readonly format?: unknown };
}

/** What the mock of the Responses API remembers. */
export interface ResponsesMemory {
  readonly cache: PrefixCache;
  /** Items of stored responses, each with the reasoning that it needs. */
  readonly stored: Map<string, string | null>;
  /** Conversations of stored responses, by the ids of the responses. */
  readonly responses: Map<string, readonly Item[]>;
}

export function responsesMemory(now: () => number): ResponsesMemory {
  return { cache: new PrefixCache(now), stored: new Map(), responses: new Map() };
}

export function responsesBody(body: Body): ResponsesBody {
  return body as unknown as ResponsesBody;
}

/** The items of a request, those of the response before it included. */
export function itemsOf(body: ResponsesBody, { responses }: ResponsesMemory): readonly Item[] {
  const own =
    typeof body.input === "string"
      ? [{ type: "message", role: "user", content: body.input }]
      : body.input;
  return [...(responses.get(body.previous_response_id ?? "") ?? []), ...own];
}

/** Encrypted reasoning: with what came before it, so that a change is noticed. */
interface Encrypted {
  readonly id: string;
  readonly prefix: string;
}

export function encrypt(content: Encrypted): string {
  return seal(content);
}

/** Null if no mock has encrypted it. */
export function decrypt(text: unknown): Encrypted | null {
  return typeof text === "string" ? (openSeal(text) as Encrypted | null) : null;
}

/** The digest of what comes before a conversation's first item. */
export function firstPrefix({ instructions, tools, text, reasoning }: ResponsesBody): string {
  return digest(JSON.stringify([instructions, tools, text?.format, reasoning?.effort]));
}

/** The digest of what comes before the item after this one. */
export function prefixAfter(prefix: string, item: Item): string {
  return item.type === "reasoning" ? prefix : digest(prefix, JSON.stringify(canonical(item)));
}

/** An item without ids and states, which are not a part of the prompt. */
function canonical({
  type = "message",
  role,
  content,
  call_id,
  name,
  arguments: args,
  output,
}: Item) {
  return { type, role, content: textsOf(content), call_id, name, args, output };
}

function textsOf(content: unknown): unknown {
  return Array.isArray(content)
    ? (content as Item[]).map(({ text, ...part }) => text ?? part)
    : content === undefined
      ? undefined
      : [content];
}

/** Reasoning that the model does not get to see, since something before it has changed. */
export function droppedReasoning(body: ResponsesBody, memory: ResponsesMemory): Item[] {
  if (!bindsReasoning(body.model)) {
    return [];
  }
  let prefix = firstPrefix(body);
  return itemsOf(body, memory).filter((item) => {
    const made = item.type === "reasoning" ? decrypt(item["encrypted_content"]) : null;
    const isDropped = made !== null && made.prefix !== prefix;
    prefix = prefixAfter(prefix, item);
    return isDropped;
  });
}
