import { defaultModel, modelConfig } from "../exchange/models/config.ts";
import type { Session } from "../core/sessions.ts";
import { projectKeyOf } from "../store/project-key.ts";
import type { ChoiceField } from "../store/sessions/waiting.ts";
import { isSameModel } from "./session-options.ts";
import type { ChatOptions } from "./chat-options.ts";
import { DEFAULT_PERSONA } from "../exchange/personas/persona.ts";
import type { CliContext } from "./context.ts";
import { projectOf } from "./new-session.ts";

export interface OwnChoiceInput {
  readonly cli: CliContext;
  readonly options: ChatOptions;
  readonly session: Session;
  readonly field: ChoiceField;
}

/**
 * Whether the session's model, persona or folder is what the user would get in a new session here:
 * then it does not matter who set it.
 */
export async function isOwnChoice(input: OwnChoiceInput): Promise<boolean> {
  const { cli, options, session, field } = input;
  switch (field) {
    case "model":
      return isSameModel(options.model ?? defaultModel(modelConfig(cli.env)), session.model);
    case "persona_name":
      return (options.persona ?? DEFAULT_PERSONA) === session.persona_name;
    case "repo_path": {
      const { project_key } = await projectOf(cli, options);
      // resolved now: what the path leads to may have changed since the session began
      return session.repo_path !== null && project_key === (await projectKeyOf(session.repo_path));
    }
  }
}
