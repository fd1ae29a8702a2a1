import { go, place } from "../route.ts";

/** The secret of a link. It is taken out of the address, so that neither the history nor a copied address has it. */
export function takeShare(): string | null {
  const { path, search, hash } = place.value;
  const secret = new URLSearchParams(hash.slice(1)).get("share");
  if (secret !== null) {
    go(`${path}${search}`, { replace: true });
  }
  return secret;
}
