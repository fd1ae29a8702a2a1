import type { Theme } from "../../../src/cli/terminal/text/theme.ts";

const same = (text: string): string => text;

/** No sequences at all, as with NO_COLOR. */
export const plainTheme: Theme = {
  name: "none",
  bold: same,
  italic: same,
  dim: same,
  accent: same,
  code: same,
  success: same,
  warning: same,
  error: same,
  added: same,
  removed: same,
  selected: same,
  link: same,
};
