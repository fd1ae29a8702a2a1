import type { AskedPermission, Choice } from "../../src/core/questions.ts";
import { permissionChoices } from "../../src/core/text/words.ts";

/** What the question has, besides its text, that asks whether a file may be edited. */
export function askedForEdit(path: string): {
  readonly choices: readonly Choice[];
  readonly permission: AskedPermission;
} {
  return {
    choices: permissionChoices([`edit_file(${path})`]),
    permission: {
      tool: "edit_file",
      subject: path,
      rule: "edit_file",
      layer: "built-in",
      may_last: true,
    },
  };
}
