/** The secret of a link. It is taken out of the address, so that neither the history nor a copied address has it. */
export function takeShare(): string | null {
  const secret = new URLSearchParams(location.hash.slice(1)).get("share");
  if (secret === null) {
    return null;
  }
  history.replaceState(history.state, "", `${location.pathname}${location.search}`);
  return secret;
}
