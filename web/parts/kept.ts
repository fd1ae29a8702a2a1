import { base } from "../route.ts";

/** What this tab keeps over a reload, such as a draft. Null without it, and where the browser keeps nothing. */
export function readKept(name: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
}

/** Keeps a text, or with null removes it. False if the browser does not: the text then lasts as long as the page. */
export function keep(name: string, text: string | null): boolean {
  try {
    if (text === null) {
      sessionStorage.removeItem(keyOf(name));
    } else {
      sessionStorage.setItem(keyOf(name), text);
    }
    return true;
  } catch {
    // full or forbidden
    return false;
  }
}

/** Several services may share an origin, each under its own path. */
function keyOf(name: string): string {
  return `reprise ${base} ${name}`;
}
