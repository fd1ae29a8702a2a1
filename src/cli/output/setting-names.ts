import type { ChangedField } from "../../store/tables/database.ts";

/** What people call the settings of a session. */
export const SETTING_NAMES: Readonly<Record<ChangedField, string>> = {
  model: "model",
  persona_name: "persona",
  repo_path: "folder",
  title: "title",
};
