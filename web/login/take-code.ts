import { logIn, loginProblem, readWhoami } from "../api.ts";
import { sentenceOf } from "../parts/sentence-of.ts";
import { go, place } from "../route.ts";

/** True if the address has a one-time code. */
export function hasCode(): boolean {
  return codeOf(place.value.hash) !== null;
}

/**
 * Finds out who this browser is: with the one-time code of the address, if it has one. The code leaves the address and
 * the history before it is used.
 */
export async function begin(): Promise<void> {
  const code = codeOf(place.value.hash);
  if (code === null) {
    await readWhoami();
    return;
  }
  go(`${place.value.path}${place.value.search}`, { replace: true });
  try {
    await logIn({ code });
  } catch (error) {
    await readWhoami();
    loginProblem.value = sentenceOf(error);
    go("/login", { replace: true });
  }
}

function codeOf(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get("code");
}
