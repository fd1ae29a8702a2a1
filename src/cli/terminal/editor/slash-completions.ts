import type { CommandUsage } from "../../chat/command-usage.ts";
import type { SlashValue, SlashValues } from "../../chat/slash/slash-values.ts";
import type { Completion, Completions } from "./completion.ts";
import { fuzzyFilter } from "../pi/fuzzy.ts";

/** A command, or a prompt of an MCP server. */
const COMMAND = /^\/([a-z-]*|[A-Za-z][\w-]{0,31}(?::\S{0,128})?)$/;
const ARGUMENT = /^\/([a-z-]+) +(\S*)$/;

/** Commands after `/` at the beginning of a message, and what some of them take. */
export function slashCompletions({
  commands: own,
  more = async () => [],
  values,
  changed,
}: {
  readonly commands: readonly CommandUsage[];
  /** Reads further commands, once, when the first is written. */
  readonly more?: () => Promise<readonly CommandUsage[]>;
  readonly values: SlashValues;
  /** Called when values have come. */
  readonly changed: () => void;
}): Completions {
  const known = new Map<string, readonly SlashValue[]>();
  let version = 0;
  let commands = own;
  let isRead = false;
  const readMore = (): void => {
    if (!isRead) {
      isRead = true;
      more().then(
        (found) => {
          const isNew = ({ name }: CommandUsage): boolean =>
            !own.some((each) => each.name === name);
          commands = [...own, ...found.filter(isNew)];
          version += 1;
          changed();
        },
        () => {
          isRead = false;
        },
      );
    }
  };
  const valuesOf = (name: string): readonly SlashValue[] => {
    const read = Object.hasOwn(values, name) ? values[name] : undefined;
    if (read !== undefined && !known.has(name)) {
      known.set(name, []);
      read().then(
        (found) => {
          known.set(name, found);
          version += 1;
          changed();
        },
        // asked for again at the next key; running the command shows what is wrong
        () => known.delete(name),
      );
    }
    return known.get(name) ?? [];
  };

  return {
    version: () => version,
    find: (before) => {
      const [, name] = COMMAND.exec(before) ?? [];
      if (name !== undefined) {
        readMore();
        const items = byName(commands, name, (each) => each.name).map(commandItem);
        return { length: before.length, items };
      }
      const [, command = "", written] = ARGUMENT.exec(before) ?? [];
      if (written === undefined) {
        return null;
      }
      const items = byName(valuesOf(command), written, (each) => each.value).map(valueItem);
      const note = commands.find(({ name }) => name === command)?.note;
      return { length: written.length, items, ...(note === undefined ? {} : { note }) };
    },
  };
}

/** Returns the items that begin with it, then those that have its letters in this order. */
function byName<Item>(
  items: readonly Item[],
  written: string,
  nameOf: (item: Item) => string,
): readonly Item[] {
  const begins = items.filter((item) => nameOf(item).startsWith(written));
  const rest = items.filter((item) => !begins.includes(item));
  return [...begins, ...(written === "" ? [] : fuzzyFilter(rest, written, nameOf))];
}

function commandItem({ name, argument, help }: CommandUsage): Completion {
  return argument === undefined
    ? { text: `/${name}`, label: `/${name}`, help, isWhole: true }
    : { text: `/${name} `, label: `/${name} ${argument}`, help };
}

function valueItem({ value, help }: SlashValue): Completion {
  return { text: value, label: value, ...(help === undefined ? {} : { help }) };
}
