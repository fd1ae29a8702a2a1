import { parseModelName } from "../agent/models/name.ts";
import { RepriseError } from "../core/errors.ts";

/** The options of a conversation, as commander reads them. */
export interface ChatOptions {
  readonly session?: string;
  readonly continue?: true;
  readonly persona?: string;
  readonly model?: string;
  readonly repo?: string;
  readonly plan?: true;
  readonly prompt?: string;
  readonly json?: true;
}

/** Error codes: `invalid_usage`, `model_unknown`. */
export function refuseBadOptions(options: ChatOptions): void {
  for (const name of ["session", "persona", "model", "repo", "prompt"] as const) {
    if (options[name]?.trim() === "") {
      throw new RepriseError("invalid_usage", `--${name} needs a value.`);
    }
  }
  if (options.continue === true && options.session !== undefined) {
    throw new RepriseError("invalid_usage", "Use either --session or --continue, not both.");
  }
  if (options.model !== undefined) {
    parseModelName(options.model);
  }
}
