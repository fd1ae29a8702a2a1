import { basename } from "node:path";

import type { Usage } from "../../core/cost/model-calls.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import type { Session } from "../../core/sessions.ts";
import type { Conversation } from "../../exchange/conversation.ts";
import type { ModelConfig } from "../../rules/models/config.ts";
import { modelFacts } from "../../rules/models/facts.ts";
import { inHome } from "./text/in-home.ts";
import type { ScreenOptions } from "./screen-options.ts";
import type { StatusState } from "./status-line.ts";
import type { SessionScreen } from "./session-screen.ts";

/** Facts that are known besides the conversation. */
export interface Known {
  readonly shown: Pick<SessionScreen, "view" | "questions" | "isWorking"> | null;
  readonly mode: PermissionMode | null;
  /** Name of the session, or its title; null without one, and before it is read. */
  readonly name: string | null;
  readonly usage: Usage | null;
  /** The branch of the folder; null if that is not known. */
  readonly branch: string | null;
  /** Returns the tokens that the model reads at most; called once the context is in use. */
  readonly window: () => number | null;
}

type Shown = Pick<ScreenOptions, "cli" | "conversation" | "answering" | "hasSandbox">;

/** The conversation as the status line shows it. */
export function statusOf(
  { cli, conversation, answering, hasSandbox }: Shown,
  { shown, mode, window, name, usage, branch }: Known,
): StatusState {
  const session = conversation.current();
  const { model, persona_name, repo_path } = conversation.planned();
  const tokens = shown?.view.tokens() ?? null;
  const isWorking = shown?.view.isRunning() === true || shown?.isWorking() === true;
  return {
    isWorking,
    questions: shown?.questions() ?? 0,
    folder: repo_path === null ? null : inHome(repo_path, cli.env["HOME"]),
    branch,
    mode: answering.agent === null ? mode : null,
    hasSandbox: hasSandbox(),
    context: contextNow(tokens?.context_tokens ?? null, window),
    usage,
    persona: answering.agent ?? persona_name,
    model: model ?? answering.model,
    session: session === null ? null : labelOf(session, name),
    tokens:
      session === null
        ? null
        : {
            input_tokens: session.total_input_tokens,
            output_tokens: session.total_output_tokens,
          },
  };
}

function contextNow(tokens: number | null, window: Known["window"]): StatusState["context"] {
  const size = tokens === null ? null : window();
  return tokens === null || size === null ? null : { tokens, window: size };
}

/** The title of the window: the session and the folder. */
export function windowTitle(conversation: Conversation, name: string | null): string {
  const session = conversation.current();
  const { repo_path } = conversation.planned();
  const folder = repo_path === null ? [] : [basename(repo_path)];
  return [session === null ? "reprise" : labelOf(session, name), ...folder].join(" · ");
}

/** Null without a model. Error codes: as `modelFacts`. */
export function contextOf(
  { conversation, answering }: Pick<ScreenOptions, "conversation" | "answering">,
  config: ModelConfig,
): number | null {
  const name = conversation.planned().model ?? answering.model;
  return name === null ? null : modelFacts(name, config).context;
}

/** A session that has just begun has no name that was read. */
function labelOf({ title, id }: Pick<Session, "title" | "id">, name: string | null): string {
  return name ?? title ?? id.slice(0, 8);
}
