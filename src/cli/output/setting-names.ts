import type { ChangedField } from "../../store/tables/database.ts";

/** Names that people use for the settings of a session. */
export const SETTING_NAMES: Readonly<Record<ChangedField, string>> = {
  model: "model",
  persona_name: "persona",
  repo_path: "folder",
  title: "title",
};
