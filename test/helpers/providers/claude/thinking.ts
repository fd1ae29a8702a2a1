import { asText } from "../rules.ts";
import { digest, openSeal, seal } from "../seals.ts";
import type { Dropped } from "../server.ts";
import { bindsThinking, claudeModel, readsThinking } from "./models.ts";
import {
  type Block,
  blocksOf,
  canonical,
  contentOf,
  isThinking,
  type MessagesBody,
} from "./request.ts";

/** What a signature holds, so that any mock can check a block that another one made. */
interface Seal {
  readonly model: string;
  /** Differs between two blocks with the same text. */
  readonly serial: string;
  readonly text: string;
  readonly prefix: Prefix;
  /** The thinking block before it in its conversation: see `markOfThought`. */
  readonly previous: string | null;
}

/** Digests of what comes before a block, thinking and cache marks left out. */
export interface Prefix {
  readonly system: string;
  readonly tools: string;
  readonly messages: string;
}

/** A thinking block that a request carries. */
export interface Thought {
  readonly path: string;
  readonly message: number;
  readonly signature: string;
  /** Null if no mock made it, or if it was changed. */
  readonly seal: Seal | null;
  readonly prefix: Prefix;
}

/** A thought that was made after something else than what now comes before it. */
export interface Mismatch {
  readonly thought: Thought;
  readonly what: keyof Prefix | "order";
}

export function sealThinking(content: Seal): string {
  return seal(content);
}

function openThinking(signature: string, text: string): Seal | null {
  const opened = openSeal(signature) as Seal | null;
  return opened?.text === text ? opened : null;
}

/** Names a block in the signature of the next one, which would hold all that came before otherwise. */
export function markOfThought(thought: Pick<Thought, "signature"> | undefined): string | null {
  return thought === undefined ? null : digest(thought.signature);
}

/** The prefix of a block with this index in a message; of the next answer if none is given. */
export function prefixOf(body: MessagesBody, message = body.messages.length, block = 0): Prefix {
  return (
    prefixes(body).find((one) => one.message === message && one.block === block)?.prefix ??
    next(body)
  );
}

function next(body: MessagesBody): Prefix {
  const empty = { ...body, messages: [...body.messages, { role: "assistant", content: [END] }] };
  return prefixOf(empty, body.messages.length);
}

const END: Block = { type: "end" };

/** The prefix of each block in messages. */
function prefixes(body: MessagesBody) {
  const placed = blocksOf(body);
  const of = (name: "tools" | "system"): string =>
    digest(...placed.filter((one) => one.in === name).map(({ block }) => canonical(block)));
  const [system, tools] = [of("system"), of("tools")];
  let messages = "";
  return body.messages.flatMap(({ role, content }, message) => {
    messages = digest(messages, role);
    return contentOf(content).map((given, block) => {
      const prefix = { system, tools, messages };
      messages = after(prefix, given).messages;
      return { message, block, given, prefix };
    });
  });
}

/** The prefix of the block that follows one with this prefix. */
export function after(prefix: Prefix, block: Block): Prefix {
  return isThinking(block)
    ? prefix
    : { ...prefix, messages: digest(prefix.messages, canonical(block)) };
}

export function thoughtsOf(body: MessagesBody): Thought[] {
  return prefixes(body)
    .filter(({ given }) => isThinking(given))
    .map(({ message, block, given, prefix }) => {
      const signature = asText(given["signature"] ?? given["data"]);
      return {
        path: `messages.${message}.content.${block}`,
        message,
        signature,
        seal: openThinking(signature, asText(given["thinking"])),
        prefix,
      };
    });
}

/**
 * The thoughts that fail the check of what comes before them: the system prompt, the tools, the messages, and the
 * thought before, unless it is the first that is sent.
 */
export function mismatches(body: MessagesBody): Mismatch[] {
  if (!bindsThinking(claudeModel(body.model))) {
    return [];
  }
  return thoughtsOf(body).flatMap((thought, at, all): Mismatch[] => {
    const { seal, prefix } = thought;
    if (seal === null) {
      return [];
    }
    const parts = ["system", "tools", "messages"] as const;
    const changed = parts.find((name) => seal.prefix[name] !== prefix[name]);
    if (changed !== undefined) {
      return [{ thought, what: changed }];
    }
    const isNext = at === 0 || seal.previous === markOfThought(all[at - 1]);
    return isNext ? [] : [{ thought, what: "order" }];
  });
}

/** The thoughts that the model does not get to see in an accepted request. */
export function droppedThoughts(body: MessagesBody): Dropped[] {
  const unread = thoughtsOf(body)
    .filter(({ seal }) => seal !== null && !readsThinking(body.model, seal.model))
    .map(({ path }) => ({ path, reason: "model_binding_mismatch" }));
  const behaviour = body.thinking?.block_binding?.prefix_mismatch_behavior;
  const changed = behaviour === "drop_block" ? mismatches(body) : [];
  return [
    ...unread,
    ...changed
      .map(({ thought }) => ({ path: thought.path, reason: "prefix_binding_mismatch" }))
      .filter(({ path }) => unread.every((one) => one.path !== path)),
  ];
}
