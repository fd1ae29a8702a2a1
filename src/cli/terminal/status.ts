import type { PermissionMode } from "../../core/permissions.ts";
import { isRepriseError } from "../../core/errors.ts";
import { contextWindow } from "../../exchange/models/context-window.ts";
import { inHome } from "./in-home.ts";
import type { ScreenOptions } from "./screen-options.ts";
import type { StatusState } from "./status-line.ts";
import type { Desk } from "./desk.ts";

/** What is known besides the conversation. */
export interface Known {
  readonly desk: Pick<Desk, "view" | "questions"> | null;
  readonly mode: PermissionMode | null;
  readonly hasSandbox: boolean | null;
}

/** The conversation as the status line shows it. */
export function statusOf(
  { cli, conversation, answering }: Pick<ScreenOptions, "cli" | "conversation" | "answering">,
  { desk, mode, hasSandbox }: Known,
): StatusState {
  const session = conversation.current();
  const { model, persona_name, repo_path } = conversation.planned();
  const name = model ?? answering.model;
  const tokens = desk?.view.tokens() ?? null;
  return {
    activity: desk?.view.isRunning() === true ? "working" : "ready",
    questions: desk?.questions() ?? 0,
    folder: repo_path === null ? null : inHome(repo_path, cli.env["HOME"]),
    mode: answering.agent === null ? mode : null,
    hasSandbox,
    context:
      name === null || tokens === null || tokens.context_tokens === null
        ? null
        : shareOf(tokens.context_tokens, name),
    persona: answering.agent ?? persona_name,
    model: name,
    session: session === null ? null : (session.title ?? session.id.slice(0, 8)),
    tokens:
      session === null
        ? null
        : {
            input_tokens: session.total_input_tokens,
            output_tokens: session.total_output_tokens,
          },
    isStored: true,
  };
}

function shareOf(tokens: number, model: string): number | null {
  try {
    return tokens / contextWindow(model);
  } catch (error) {
    if (isRepriseError(error)) {
      return null;
    }
    throw error;
  }
}
