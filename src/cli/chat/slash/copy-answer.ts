import { visible } from "../../../core/text/terminal-text.ts";
import { readDetail } from "../../../store/records/messages/read.ts";
import type { Store } from "../../../store/store.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import type { Talk } from "../talk.ts";

/** Terminals ignore sequences of more than 100,000 bytes, 8 of which are not text in base64. */
const MAX_BYTES = 74_994;

/** `/copy`. */
export async function copyCommand({
  cli,
  conversation,
  store,
}: Pick<Talk, "cli" | "conversation"> & { readonly store: Store }): Promise<void> {
  noticeLine(cli, await copyAnswer(cli, store, conversation.current()?.id ?? null));
}

/** Gives the last answer to the clipboard of the terminal (OSC 52). Returns a sentence about it. */
export async function copyAnswer(
  { stdout, env }: Pick<CliContext, "stdout" | "env">,
  store: Store,
  session_id: string | null,
): Promise<string> {
  const answer = session_id === null ? null : await lastAnswer(store, session_id);
  if (answer === null) {
    return "There is no answer to copy yet.";
  }
  const terminal = env["TERM"] === "dumb" ? null : stdout.terminal();
  if (terminal === null) {
    return "Only a terminal has a clipboard; /export writes the session to a file.";
  }
  // keys in it would be run by a shell that it is pasted into
  const text = visible(answer);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) {
    return `The answer has ${bytes} bytes, and terminals take ${MAX_BYTES}; /export writes the session to a file.`;
  }
  terminal.draw(clipboardSequence(text, env["TMUX"] !== undefined));
  return `Copied: ${bytes} bytes of the last answer. If pasting gives nothing, the terminal does not allow it.`;
}

async function lastAnswer(store: Store, reference: string): Promise<string | null> {
  const { messages } = await store.read(readDetail, { reference, all: false });
  const answer = messages.findLast(
    ({ role, content, is_summary }) => role === "assistant" && !is_summary && content.trim() !== "",
  );
  return answer?.content ?? null;
}

/** Base64 has nothing that a terminal obeys. */
function clipboardSequence(text: string, isTmux: boolean): string {
  const sequence = `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
  // tmux takes the first if `set-clipboard` is on, and hands on the second if `allow-passthrough` is
  return isTmux
    ? `${sequence}\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`
    : sequence;
}
