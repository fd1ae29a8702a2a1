import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";

type CallChunk = NonNullable<AIMessageChunk["tool_call_chunks"]>[number];

/**
 * A model's stream in which the arguments of each tool call come in one piece, at the end. LangChain
 * parses all that has arrived of them whenever a piece is added, and providers send 3 to 5
 * characters in each: that is quadratic in their length. Everything else passes at once, in order.
 *
 * OpenAI's client copies the calls to `additional_kwargs` as well; these copies are left out.
 */
export async function* gatherArguments(
  chunks: AsyncIterable<ChatGenerationChunk>,
): AsyncGenerator<ChatGenerationChunk> {
  const calls: GatheredCall[] = [];
  const inputs = new Map<unknown, Pieces>();
  for await (const chunk of chunks) {
    const { message } = chunk;
    if (!AIMessageChunk.isInstance(message) || !hasCalls(message)) {
      yield chunk;
      continue;
    }
    const begins = takeCalls(message, calls);
    takeInputs(message, inputs);
    if (begins || saysMore(chunk, message)) {
      yield chunk;
    }
  }
  if (calls.length > 0) {
    yield lastChunk(calls, inputs);
  }
}

/** One call of a tool while its arguments arrive. */
interface GatheredCall {
  readonly chunk: CallChunk;
  readonly args: Pieces;
}

/** A text that arrives in small pieces. */
class Pieces {
  #text = "";
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    // a string made by adding small ones takes ten times its length
    if (this.#pieces.length === 512) {
      this.#text = this.text;
      this.#pieces = [];
    }
  }

  get text(): string {
    return this.#text + this.#pieces.join("");
  }
}

function hasCalls({ tool_call_chunks = [] }: AIMessageChunk): boolean {
  return tool_call_chunks.length > 0;
}

/** Takes the calls out of a message; true if one of them is new. */
function takeCalls(message: AIMessageChunk, calls: GatheredCall[]): boolean {
  let begins = false;
  for (const chunk of message.tool_call_chunks ?? []) {
    let call = callOf(chunk, calls);
    if (call === undefined) {
      begins = true;
      call = { chunk: { ...chunk }, args: new Pieces() };
      calls.push(call);
    }
    call.chunk.id ||= chunk.id;
    call.chunk.name ||= chunk.name;
    call.args.add(chunk.args ?? "");
  }
  message.tool_call_chunks = [];
  message.tool_calls = [];
  message.invalid_tool_calls = [];
  delete message.additional_kwargs["tool_calls"];
  return begins;
}

/**
 * The call that a piece belongs to: by index, and by id if both have one, as LangChain joins them. Some servers send
 * no index: a piece with a new id or name begins a call then, and any other one belongs to the last.
 */
function callOf(chunk: CallChunk, calls: readonly GatheredCall[]): GatheredCall | undefined {
  const last = calls.at(-1);
  if (!hasIndex(chunk) && last !== undefined) {
    return chunk.id ? calls.find((known) => known.chunk.id === chunk.id) : unlessNew(chunk, last);
  }
  return calls.find(({ chunk: known }) => {
    const differ = Boolean(known.id) && Boolean(chunk.id) && known.id !== chunk.id;
    return known.index === chunk.index && !differ;
  });
}

/** Some send null. */
function hasIndex({ index = null }: { readonly index?: number | null }): boolean {
  return index !== null;
}

function unlessNew({ name }: CallChunk, last: GatheredCall): GatheredCall | undefined {
  return !name || (name === last.chunk.name && !isWhole(last.args.text)) ? last : undefined;
}

/** True for arguments that nothing can follow. */
function isWhole(args: string): boolean {
  try {
    return args.trimEnd().endsWith("}") && typeof JSON.parse(args) === "object";
  } catch {
    return false;
  }
}

/** Anthropic's client keeps the arguments in the message's content, too. */
function takeInputs(message: AIMessageChunk, inputs: Map<unknown, Pieces>): void {
  if (typeof message.content === "string") {
    return;
  }
  message.content = message.content.filter((block) => {
    if (block.type !== "input_json_delta") {
      return true;
    }
    const pieces = inputs.get(block["index"]) ?? new Pieces();
    pieces.add(typeof block["input"] === "string" ? block["input"] : "");
    inputs.set(block["index"], pieces);
    return false;
  });
}

function saysMore({ generationInfo }: ChatGenerationChunk, message: AIMessageChunk): boolean {
  return (
    message.content.length > 0 ||
    message.usage_metadata !== undefined ||
    Object.keys(message.additional_kwargs).length > 0 ||
    generationInfo?.["finish_reason"] !== undefined
  );
}

function lastChunk(
  calls: readonly GatheredCall[],
  inputs: ReadonlyMap<unknown, Pieces>,
): ChatGenerationChunk {
  const content = [...inputs].map(([index, { text }]) => ({
    index,
    input: text,
    type: "input_json_delta",
  }));
  const message = new AIMessageChunk({ content: content.length === 0 ? "" : content });
  // not given to the constructor, which would parse them before they are joined to the rest
  message.tool_call_chunks = calls.map(({ chunk, args }, at) => ({
    ...chunk,
    index: chunk.index ?? at,
    args: args.text,
  }));
  return new ChatGenerationChunk({ text: "", message });
}
