import { RepriseError } from "../../core/errors.ts";

/**
 * Reads origins as a browser writes them: scheme, host and port, nothing else. `*` is none, because
 * it would let every page that the user visits drive the service.
 *
 * Error codes: `config_invalid`.
 */
export function parseOrigins(origins: readonly string[]): readonly string[] {
  return origins.map((origin) => {
    const url = URL.canParse(origin) ? new URL(origin) : null;
    if (url === null || !["http:", "https:"].includes(url.protocol) || url.origin !== origin) {
      throw new RepriseError(
        "config_invalid",
        "An allowed origin must be a scheme, a host and where needed a port in lower case, such as http://localhost:5173; a wildcard is not allowed.",
      );
    }
    return origin;
  });
}
