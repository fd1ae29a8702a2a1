import { MAX_SUBJECT } from "../limits.ts";
import { cleanCut, type Cleaner, type Redaction, type RedactSource } from "./clean.ts";
import { createFinder, type Finding, isNamedSecret, masked, withoutFindings } from "./redact.ts";

/**
 * Makes what takes out keys, tokens, e-mail addresses, home paths and what the config names. `onFound` gets each.
 *
 * Error codes: `config_invalid`.
 */
export async function createCleaner(
  { home, patterns, secrets }: RedactSource,
  onFound: (redaction: Redaction) => void = () => undefined,
): Promise<Cleaner> {
  const find = createFinder({
    home,
    patterns: (await patterns?.()) ?? [],
    secrets: (await secrets?.()) ?? [],
  });
  const report = (text: string, findings: readonly Finding[], where: string): void => {
    for (const { kind, from, to } of findings) {
      onFound({ kind, where, masked: masked(text.slice(from, to)) });
    }
  };
  const clean = (text: string, where: string): string => {
    const findings = find(text);
    report(text, findings, where);
    return findings.length === 0 ? text : withoutFindings(text, findings);
  };
  const cleanValue = (value: unknown, where: string, name = ""): unknown => {
    if (typeof value === "string" && name === "subject") {
      return cleanCut(value, {
        max: MAX_SUBJECT,
        where,
        cleaner: { text: clean, value: cleanValue },
      })
        .slice(0, MAX_SUBJECT)
        .trimEnd();
    }
    if (typeof value === "string") {
      const findings = isNamedSecret(name, value)
        ? [{ kind: "secret value", from: 0, to: value.length }]
        : null;
      report(value, findings ?? [], where);
      return findings === null ? clean(value, where) : withoutFindings(value, findings);
    }
    if (Array.isArray(value)) {
      return value.map((item) => cleanValue(item, where, name));
    }
    return typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value).map(([key, member]) => [
            clean(key, where),
            cleanValue(member, where, key),
          ]),
        )
      : value;
  };
  return { text: clean, value: (value, where) => cleanValue(value, where) };
}
