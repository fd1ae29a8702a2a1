import { signal } from "@preact/signals";

/** `auto` is the system's choice. */
export type Theme = "auto" | "light" | "dark";

const KEY = "reprise-theme";

export const theme = signal<Theme>(storedTheme());

/** Shows the page in the theme that was chosen in this tab. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  try {
    sessionStorage.setItem(KEY, next);
  } catch {
    // a full or forbidden storage: the choice lasts until the page is left
  }
  applyTheme();
}

function storedTheme(): Theme {
  try {
    const stored = sessionStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto";
  }
}
