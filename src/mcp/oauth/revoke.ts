import type { Login } from "./logins.ts";
import { oauthFetch } from "./oauth-fetch.ts";

/**
 * Revokes the tokens of a login (RFC 7009). Returns false if the authorization server cannot be asked, which changes nothing
 * here. Never throws.
 */
export async function revoke(login: Login): Promise<boolean> {
  const { revocation_endpoint, refresh_token, access_token, client_id, client_secret } = login;
  if (revocation_endpoint === undefined) {
    return false;
  }
  try {
    const fetchFn = oauthFetch({ url: login.url, signal: new AbortController().signal });
    const response = await fetchFn(revocation_endpoint, {
      method: "POST",
      redirect: "error",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        // the access token ends with it (section 2.1)
        token: refresh_token ?? access_token,
        token_type_hint: refresh_token === undefined ? "access_token" : "refresh_token",
        client_id,
        ...(client_secret === undefined ? {} : { client_secret }),
      }),
    });
    await response.body?.cancel().catch(() => undefined);
    return response.ok;
  } catch {
    return false;
  }
}
