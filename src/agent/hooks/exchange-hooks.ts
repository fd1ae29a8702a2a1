import { AIMessage, type BaseMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";

import { RepriseError } from "../../core/errors.ts";
import { failureText } from "../../core/text/result-text.ts";
import { isHarmless, type Tool } from "../../core/tools.ts";
import { keptStatusOf } from "../../store/records/messages/call-facts.ts";
import type { RecordCommand } from "../../workspace/undo/commands/record-command.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import type { KnownFiles } from "../known-files.ts";
import { callsOf } from "../messages/message-calls.ts";
import type { CallHooks } from "../call-hooks.ts";
import { isUnfinished } from "../messages/ended-answer.ts";
import { isContinued, keepStopReason } from "../messages/hook-text.ts";
import { keepStatus } from "../messages/keep-facts.ts";
import { createQueue } from "../tools/tool-result.ts";
import { type CallView, callViews } from "./call-views.ts";
import { type HookRunner, nameOf } from "./hook-runner.ts";
import { WrittenFiles } from "./written-files.ts";
import type { Hook } from "../../rules/hooks/hook.ts";

export interface ExchangeHooksOptions {
  readonly runner: HookRunner;
  readonly cwd: string;
  /** As of `HookPlace`. */
  readonly sandbox: (() => Promise<Sandbox>) | null;
  readonly record: RecordCommand;
  readonly known: KnownFiles;
  /** As of `ExchangeContext.prefixMark`. */
  readonly mark: string | null;
  readonly onDenied: (() => void) | undefined;
  readonly onNotice: (sentence: string) => void;
}

/** Characters of a result that a hook is given. */
const MAX_RESULT = 64 * 1024;
/** Times that a hook lets a model continue; Claude Code has the same limit. */
const MAX_CONTINUED = 8;

/** Runs the hooks of one exchange. A call that a hook denies is as one that a rule denies. */
export class ExchangeHooks implements CallHooks {
  readonly #options: ExchangeHooksOptions;
  readonly #inOrder = createQueue();
  #note: string | null = null;

  constructor(options: ExchangeHooksOptions) {
    this.#options = options;
  }

  /** For the next message of the user: what hooks report of it. */
  get note(): string | null {
    return this.#note;
  }

  /**
   * Runs the hooks of a process that takes up a session, then those of a message. Error codes: `hook_denied`.
   */
  async begin(
    { source, prompt }: { readonly source: string | null; readonly prompt: string | null },
    signal: AbortSignal,
  ): Promise<void> {
    const { runner } = this.#options;
    const notes: string[] = [];
    if (source !== null) {
      const input = () => ({ source });
      const event = "SessionStart" as const;
      notes.push(...(await runner.run({ event, names: [source], input, signal })).notes);
    }
    if (prompt !== null) {
      const input = () => ({ prompt });
      const given = await runner.run({ event: "UserPromptSubmit", names: null, input, signal });
      if (given.denied !== null) {
        const { hook, reason } = given.denied;
        throw new RepriseError(
          "hook_denied",
          `The hook ${nameOf(hook)} denied the message, which is not stored: ${reason}`,
        );
      }
      notes.push(...given.notes);
    }
    this.#note = notes.length === 0 ? null : notes.join("\n\n");
  }

  async around<Result>(
    call: ToolCall,
    declared: Tool,
    signal: AbortSignal | undefined,
    run: () => Promise<Result>,
  ): Promise<Result | ToolMessage> {
    const views = callViews(call, this.#options.cwd);
    const seen: SeenRun = { call, views, signal, isChanging: !isHarmless(declared) };
    const work = async (): Promise<Result | ToolMessage> => {
      const before = await this.#before(seen);
      if (before.denied !== null) {
        return before.denied;
      }
      const given = await run();
      return ToolMessage.isInstance(given) ? this.#after(seen, given, before.notes) : given;
    };
    // no call may change files while hooks of another one work on them
    const takesTurns = seen.isChanging && this.#options.runner.has("PostToolUse");
    return takesTurns ? this.#inOrder(work) : work();
  }

  async stop(
    answer: BaseMessage | undefined,
    before: readonly BaseMessage[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { runner, onNotice, mark } = this.#options;
    if (
      !AIMessage.isInstance(answer) ||
      callsOf(answer).length > 0 ||
      isUnfinished(answer) ||
      !runner.has("Stop")
    ) {
      return;
    }
    const since = before.slice(before.findLastIndex(({ type }) => type === "human") + 1);
    const times = since.filter(isContinued).length;
    const input = () => ({ stop_hook_active: times > 0, last_assistant_message: answer.text });
    const { denied } = await runner.run({ event: "Stop", names: null, input, signal });
    if (denied !== null && times >= MAX_CONTINUED) {
      onNotice(
        `The hook ${nameOf(denied.hook)} let the model continue ${MAX_CONTINUED} times, so its answer is the last one.`,
      );
    } else if (denied !== null) {
      keepStopReason(answer, { text: denied.reason, mark });
    }
  }

  /** Runs the hooks of questions that wait for a person. */
  async asked(
    questions: readonly { readonly text: string; readonly isPermission: boolean }[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const { text, isPermission } of questions) {
      const kind = isPermission ? "permission_prompt" : "elicitation_dialog";
      const input = () => ({ message: text, notification_type: kind });
      await this.#options.runner.run({ event: "Notification", names: [kind], input, signal });
    }
  }

  /** Runs the hooks of a process that leaves the session. */
  async left(reason: string, signal: AbortSignal): Promise<void> {
    const input = () => ({ reason });
    await this.#options.runner.run({ event: "SessionEnd", names: [reason], input, signal });
  }

  #isFollowed(views: readonly CallView[]): boolean {
    return views.some(({ names }) => this.#options.runner.has("PostToolUse", names));
  }

  async #before({ call, views, signal }: SeenRun): Promise<{
    readonly denied: ToolMessage | null;
    readonly notes: readonly string[];
  }> {
    const { runner, onDenied } = this.#options;
    const notes: string[] = [];
    for (const view of views) {
      const given = await runner.run({
        event: "PreToolUse",
        names: view.names,
        input: (hook) => inputOf(call, view, hook),
        signal,
      });
      notes.push(...given.notes);
      if (given.denied !== null) {
        onDenied?.();
        const { hook, reason } = given.denied;
        const text = [`this call is denied by the hook ${nameOf(hook)}: ${reason}`, ...notes];
        return { denied: deniedResult(call, text.join("\n\n")), notes };
      }
    }
    return { denied: null, notes };
  }

  async #after(
    seen: SeenRun,
    result: ToolMessage,
    before: readonly string[],
  ): Promise<ToolMessage> {
    const status = keptStatusOf(result) ?? (result.status === "error" ? "failed" : "ok");
    if (status !== "ok" || !this.#isFollowed(seen.views)) {
      return withNotes(result, before, result.artifact);
    }
    const { sandbox: resolve, known, record } = this.#options;
    const sandbox = resolve === null ? null : await resolve().catch(() => null);
    const paths = seen.views.flatMap((view) => view.paths);
    const files = sandbox === null ? null : await WrittenFiles.of(result, paths, sandbox);
    const run = () => this.#afterAll(seen, result);
    const { call } = seen;
    const notes =
      seen.isChanging && sandbox !== null
        ? await record(
            {
              call_id: call.id ?? "",
              tool: call.name,
              root: sandbox.root,
              own: sandbox.guarded.map(({ path }) => path),
            },
            run,
          )
        : await run();
    const changed = await files?.changed(result, known);
    const all = [...before, ...notes, ...(changed?.notes ?? [])];
    return withNotes(result, all, changed === undefined ? result.artifact : changed.artifact);
  }

  async #afterAll(
    { call, views, signal }: SeenRun,
    result: ToolMessage,
  ): Promise<readonly string[]> {
    const notes: string[] = [];
    for (const view of views) {
      const given = await this.#options.runner.run({
        event: "PostToolUse",
        names: view.names,
        input: (hook) => ({
          ...inputOf(call, view, hook),
          tool_response: responseOf(view, result.text.slice(0, MAX_RESULT)),
        }),
        signal,
      });
      notes.push(...given.notes);
    }
    return notes;
  }
}

interface SeenRun {
  readonly call: ToolCall;
  readonly isChanging: boolean;
  readonly views: readonly CallView[];
  readonly signal: AbortSignal | undefined;
}

function deniedResult({ id = "", name }: ToolCall, reason: string): ToolMessage {
  const content = failureText(reason);
  return keepStatus(
    new ToolMessage({ content, name, tool_call_id: id, status: "error" }),
    "denied",
  );
}

/** The names and arguments of Claude Code, and beside them ours. */
function inputOf(
  { id = "", name, args }: ToolCall,
  { names, input }: CallView,
  { match }: Hook,
): Readonly<Record<string, unknown>> {
  const others = names.slice(1);
  const tool_name = others.find((each) => match?.includes(each) === true) ?? others[0] ?? name;
  return { tool_name, tool_input: input, tool_use_id: id, reprise_tool: { name, args } };
}

/** Claude Code's forms of the results of `Bash` and of its tools for files, as far as hooks use them. */
function responseOf({ names, input }: CallView, text: string): Readonly<Record<string, unknown>> {
  return names.includes("Bash")
    ? { stdout: text, stderr: "", interrupted: false }
    : { filePath: input["file_path"], success: true, content: text };
}

function withNotes(result: ToolMessage, notes: readonly string[], artifact: unknown): ToolMessage {
  if (notes.length === 0) {
    return result;
  }
  const { content, name, tool_call_id, id, status, additional_kwargs, response_metadata } = result;
  const text = notes.join("\n\n");
  const noted = new ToolMessage({
    content:
      typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text", text }],
    tool_call_id,
    additional_kwargs,
    response_metadata,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    ...(artifact === undefined ? {} : { artifact }),
  });
  return keepStatus(noted, keptStatusOf(result) ?? (status === "error" ? "failed" : "ok"));
}
