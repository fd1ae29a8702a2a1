import { createNearestName } from "../../core/text/nearest-name.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** Names of commands, and of those of a group. */
export type CommandNames = Readonly<Record<string, readonly string[]>>;

/**
 * The error for a wrong command, with the one that it is most like: one of the program, else one of a
 * group, such as `sessions list` for `list`.
 */
export function noSuchCommand(wrong: string, names: CommandNames): Error {
  const nearest = createNearestName(Object.keys(names))(wrong) ?? nearestMember(wrong, names);
  const meant = nearest === undefined ? "" : `perhaps \`reprise ${nearest}\` is meant; `;
  return wrongUsage(
    `There is no such command; ${meant}see \`reprise --help\`, and send a message with -p.`,
  );
}

/** Returns the nearest member of the first group that has one. */
function nearestMember(wrong: string, names: CommandNames): string | undefined {
  for (const [group, members] of Object.entries(names)) {
    const member = createNearestName(members)(wrong);
    if (member !== undefined) {
      return `${group} ${member}`;
    }
  }
  return undefined;
}
