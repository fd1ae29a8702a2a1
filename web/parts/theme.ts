import { signal } from "@preact/signals";

import { keep, readKept } from "./kept.ts";

/** `auto` is the system's choice. */
export type Theme = "auto" | "light" | "dark";

const theme = signal<Theme>(storedTheme());

/** Shows the page in the theme that was chosen in this tab. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  keep("theme", next);
  applyTheme();
}

/** The choice that a press of the button makes: the other of light and dark, then the system's again. */
export function nextTheme(): Theme {
  if (theme.value !== "auto") {
    return theme.value === systemTheme() ? "auto" : systemTheme();
  }
  return systemTheme() === "dark" ? "light" : "dark";
}

function systemTheme(): "light" | "dark" {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function storedTheme(): Theme {
  const stored = readKept("theme");
  return stored === "light" || stored === "dark" ? stored : "auto";
}
