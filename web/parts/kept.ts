import { base } from "../route.ts";

/** What this tab keeps over a reload, such as a draft. Null without it, and where the browser keeps nothing. */
export function readKept(name: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
}

/** Keeps a text, or with null removes it. A full or forbidden storage keeps nothing: the text lasts as long as the page. */
export function keep(name: string, text: string | null): void {
  try {
    if (text === null) {
      sessionStorage.removeItem(keyOf(name));
    } else {
      sessionStorage.setItem(keyOf(name), text);
    }
  } catch {
    // nothing else depends on it
  }
}

/** Several services may share an origin, each under its own path. */
function keyOf(name: string): string {
  return `reprise ${base} ${name}`;
}
