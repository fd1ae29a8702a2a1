import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import { parsePattern, type Rule } from "../permissions/rule.ts";
import { parseDocument, type Problem } from "./document.ts";
import { placed, type PlacedProblem } from "./load-config.ts";
import { listReader, membersOf, readMember, type Report, textReader } from "./readers.ts";
import { limitsAt, objectAt, rulesAt, sandboxLimitsAt } from "./read-user-config.ts";
import { LIMIT_KEYS, type ProtectedPath, type SandboxMaxima } from "./user-config.ts";

const KEYS = ["$schema", "permission", "protected", "limits", "sandbox"] as const;
const STRICTER = ["ask", "deny"] as const;

/** Reads what can be used of the config of a folder. */
export function readRepositoryConfig(text: string): {
  readonly rules: readonly Rule[];
  readonly protected: readonly ProtectedPath[];
  readonly limits: Partial<ExchangeLimits>;
  readonly sandbox: SandboxMaxima;
  readonly problems: readonly PlacedProblem[];
} {
  const { root, problems } = parseDocument(text);
  const found: Problem[] = [...problems];
  const report: Report = ({ offset }, message) => found.push({ offset, message });
  const members = root === null ? new Map() : membersOf(root, report, KEYS);
  const permission = objectAt(members, "permission", report, STRICTER);
  const limits = objectAt(members, "limits", report, Object.keys(LIMIT_KEYS));
  const pattern = textReader((written) => ({ pattern: parsePattern(written) }));
  return {
    rules: STRICTER.flatMap((effect) => rulesAt(permission, effect, report)),
    protected: readMember(members, "protected", listReader(pattern), report) ?? [],
    limits: limitsAt(limits, report),
    sandbox: sandboxLimitsAt(objectAt(members, "sandbox", report, ["limits"]), report),
    problems: placed(text, found),
  };
}
