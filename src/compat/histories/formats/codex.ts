import { Collected } from "../collected.ts";
import { readChildren, untaken } from "../children.ts";
import {
  argsIn,
  blocksText,
  type Fields,
  fieldsIn,
  listIn,
  nameIn,
  textIn,
  timeIn,
} from "../fields.ts";
import type { Entry, ForeignCall, History } from "../history.ts";
import { jsonLines } from "../lines.ts";
import type { Rollouts } from "./rollouts.ts";

/**
 * Reads a conversation of Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`. Items of the
 * Responses API are its history; the events beside them repeat it for a screen. Sub-agents are in such files, too.
 *
 * Error codes: `file_unreadable`, `export_invalid`, `body_too_large`.
 */
export async function readCodex(source: string, rollouts: Rollouts): Promise<History> {
  const reader = await readFile(source);
  return withChildren(reader, { rollouts, taken: new Set([source]) });
}

interface Tree {
  readonly rollouts: Rollouts;
  /** Files that are read: each belongs to one thread, whatever their first lines say. */
  readonly taken: Set<string>;
}

async function withChildren(reader: Reader, tree: Tree): Promise<History> {
  const history = reader.history();
  const { id, source } = history;
  const files = untaken(await tree.rollouts.childrenOf(source, id), tree.taken);
  const { children, problems } = await readChildren(files, async (file) => {
    const child = await withChildren(await readFile(file), tree);
    const call_id = reader.callsOfAgents.get(child.id) ?? null;
    return { ...child, id: `${id}/${child.id}`, call_id };
  });
  return { ...history, children, problems: [...history.problems, ...problems] };
}

async function readFile(source: string): Promise<Reader> {
  const reader = new Reader(source);
  for await (const line of jsonLines(source)) {
    if (line.problem === undefined) {
      reader.add(line.number, fieldsIn(line.value));
    } else {
      reader.collected.report(line.problem);
    }
  }
  return reader;
}

/** Texts in the user's role that the program wrote. */
const NOT_SAID =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|skills_instructions|turn_aborted|collaboration_mode|personality_spec|subagent_notification|user_shell_command)>|# AGENTS\.md instructions for )/;

/** Newer versions say of each text what it is. */
function isOfProgram(item: Fields): boolean {
  const { content_item_kinds } = fieldsIn(item["internal_chat_message_metadata_passthrough"]);
  const kinds = listIn(content_item_kinds).map(textIn);
  return kinds.length > 0 && !kinds.some((kind) => /^(?:user\.|unknown$)/.test(kind));
}

class Reader {
  readonly collected: Collected;
  /** Ids of calls, by the agents that they began. */
  readonly callsOfAgents = new Map<string, string>();
  readonly #spawns = new Set<string>();
  readonly #entries: Entry[] = [];
  #id: string | null = null;
  #folder: string | null = null;
  #created: string | null = null;
  #thinking: string[] = [];

  constructor(source: string) {
    this.collected = new Collected(source);
  }

  add(number: number, line: Fields): void {
    const payload = fieldsIn(line["payload"]);
    const ts = timeIn(line["timestamp"]);
    switch (line["type"]) {
      case "session_meta":
        // a fork has those of its origin too
        this.#id ??= nameIn(payload["id"]);
        this.#folder ??= nameIn(payload["cwd"]);
        this.#created ??= timeIn(payload["timestamp"]) ?? ts;
        break;
      case "turn_context":
        this.#folder ??= nameIn(payload["cwd"]);
        break;
      case "event_msg":
        if (payload["type"] === "thread_rolled_back") {
          this.#rollBack(payload["num_turns"]);
        }
        break;
      case "compacted":
        this.#addSummary(`line-${number}`, ts, textIn(payload["message"]));
        break;
      case "response_item":
        this.#addItem(nameIn(payload["id"]) ?? `line-${number}`, ts, payload);
    }
  }

  #addItem(id: string, ts: string | null, item: Fields): void {
    switch (item["type"]) {
      case "message":
        this.#addMessage(id, ts, item);
        break;
      case "reasoning": {
        const text = blocksText(item["summary"]) || blocksText(item["content"]);
        this.#thinking.push(...(text === "" ? [] : [this.collected.text(text)]));
        break;
      }
      case "function_call":
        this.#addCall(id, ts, { ...named(item), args: argsIn(item["arguments"]) });
        break;
      case "custom_tool_call":
        this.#addCall(id, ts, { ...named(item), args: { input: textIn(item["input"]) } });
        break;
      case "local_shell_call":
        this.#addCall(id, ts, {
          ...named(item),
          name: "local_shell",
          args: fieldsIn(item["action"]),
        });
        break;
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
        this.#addResult(id, ts, item);
    }
  }

  #addMessage(id: string, ts: string | null, item: Fields): void {
    const { role, content } = item;
    const text = blocksText(content);
    if (role === "user" && text !== "" && !NOT_SAID.test(text) && !isOfProgram(item)) {
      this.#entries.push({ kind: "user", id, ts, text: this.collected.text(text) });
      this.#thinking = [];
    } else if (role === "assistant") {
      const kept = this.collected.text(text);
      this.#entries.push({
        kind: "answer",
        id,
        ts,
        text: kept,
        thinking: this.#thought(),
        calls: [],
      });
    }
  }

  /** Calls follow the text of their answer as separate items. */
  #addCall(id: string, ts: string | null, call: ForeignCall): void {
    this.collected.count(JSON.stringify(call.args).length);
    if (call.name === "spawn_agent") {
      this.#spawns.add(call.id);
    }
    const last = this.#entries.at(-1);
    const thinking = this.#thought();
    if (last?.kind === "answer") {
      const thought = [...last.thinking, ...thinking];
      const calls = [...last.calls, call];
      this.#entries.splice(-1, 1, { ...last, thinking: thought, calls });
    } else {
      this.#entries.push({ kind: "answer", id, ts, text: "", thinking, calls: [call] });
    }
  }

  #addResult(id: string, ts: string | null, { call_id: called, output }: Fields): void {
    const call_id = textIn(called);
    const { content } = fieldsIn(output);
    const text = this.collected.text(blocksText(content ?? output));
    const agent = this.#spawns.has(call_id) ? nameIn(argsIn(text)["agent_id"]) : null;
    if (agent !== null) {
      this.callsOfAgents.set(agent, call_id);
    }
    this.#entries.push({ kind: "result", id, ts, call_id, text, failed: null });
  }

  /** The answer with the summary is an item of the history before it becomes one. */
  #addSummary(id: string, ts: string | null, text: string): void {
    const last = this.#entries.at(-1);
    if (last?.kind === "answer" && last.calls.length === 0 && text.endsWith(last.text)) {
      this.#entries.pop();
    }
    if (text !== "") {
      this.#entries.push({
        kind: "summary",
        id,
        ts,
        text: this.collected.text(text),
        kept_from: null,
      });
    }
  }

  /** A person went back: the last turns are not in the conversation any more. */
  #rollBack(turns: unknown): void {
    const users = [...this.#entries.entries()].filter(([, { kind }]) => kind === "user");
    const count = typeof turns === "number" && turns > 0 ? Math.floor(turns) : 0;
    const [at] = users.at(-count) ?? users[0] ?? [0];
    if (count > 0) {
      this.#entries.splice(at);
      this.#thinking = [];
    }
  }

  #thought(): readonly string[] {
    const thinking = this.#thinking;
    this.#thinking = [];
    return thinking;
  }

  history(): History {
    return this.collected.history({
      program: "codex",
      name: "Codex",
      id: this.#id,
      folder: this.#folder,
      created: this.#created,
      entries: this.#entries,
    });
  }
}

function named(item: Fields): Pick<ForeignCall, "id" | "name"> {
  return { id: nameIn(item["call_id"]) ?? textIn(item["id"]), name: textIn(item["name"]) };
}
